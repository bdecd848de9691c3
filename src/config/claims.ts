/** Where a token has a value: the literal name of a claim, or, with a leading `/`, a JSON Pointer (RFC 6901). */
export interface Claim {
  name: string;
  path: readonly string[];
}

/** Names that are properties of every object. They are never meant, so they are refused. */
const INHERITED: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** Reads the name of a claim. Throws for one that cannot be used; the caller puts the variable's name before the message. */
export function readClaim(name: string): Claim {
  const isPointer = name.startsWith('/');
  if (isPointer && /~(?![01])/.test(name)) throw new Error(`"${name}" is no JSON Pointer: write ~ as ~0`);
  const path = isPointer
    ? name
        .slice(1)
        .split('/')
        .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    : [name];
  const refused = path.find((step) => step === '' || INHERITED.has(step));
  if (refused !== undefined) throw new Error(`"${name}" must not have the name "${refused}"`);
  return { name, path };
}

/** The value of a claim; undefined when it is absent. Only own properties of objects count, at every step. */
export function claimValue(claims: unknown, { path }: Claim): unknown {
  let value = claims;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, step)) {
      return undefined;
    }
    value = Reflect.get(value, step);
  }
  return value;
}
