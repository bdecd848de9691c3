/* Whether a caller may have a field. enforce.ts says where this is asked. */
import { isScope, type Scope } from '../config/scopes.ts';
import type { Caller } from './caller.ts';
import type { AccessRule } from './rules.ts';

/**
 * Why a caller may not have a field, in a sentence for developers, or undefined when it may. Called for each item of long
 * lists: it allocates nothing for a caller that has the scope.
 */
export function rejectionReason(rule: AccessRule, caller: Caller, parent: unknown, args: unknown): string | undefined {
  const { scopes, sub, hint } = caller;
  if (!scopes.has(rule.scope)) {
    if (rule.exceptOwn && isObject(parent) && rule.exceptOwn.get(parent) === caller) return undefined;
    const missing = missingScope(rule, scopes, rule.names?.(parent, args));
    if (missing) return `This needs the scope "${missing}"${hint ? `: ${hint}` : ''}.`;
  }
  if (!rule.whom || scopes.has('any-player')) return undefined;
  const whom = rule.whom(parent, args);
  const isOwn = sub !== undefined && (Array.isArray(whom) ? whom.every((one) => one === sub) : whom === sub);
  return isOwn ? undefined : 'This is about another player, which needs the scope "any-player".';
}

/** The first scope that is missing for all names; each of them can be allowed by a limited scope. */
function missingScope({ scope }: AccessRule, scopes: Caller['scopes'], names: unknown): Scope | undefined {
  if (!Array.isArray(names) || names.length === 0) return scope;
  // Each name once: the caller has few such scopes, so the first new name that is not allowed comes soon.
  for (const name of new Set(names)) {
    // A text that is not well-formed cannot be encoded.
    const limited = String(name).isWellFormed() ? `${scope}:${encodeURIComponent(String(name))}` : '';
    if (!isScope(limited)) return scope;
    if (!scopes.has(limited)) return limited;
  }
  return undefined;
}

/** A field of an input type with a rule, and where the arguments of a field have it. */
export interface ProtectedInput {
  path: readonly string[];
  scope: Scope;
}

/** Why a caller may not send these arguments. */
export function rejectedInput(inputs: readonly ProtectedInput[], caller: Caller, args: unknown): string | undefined {
  for (const { path, scope } of inputs) {
    if (!caller.scopes.has(scope) && has(args, path))
      return `The input "${path.join('.')}" needs the scope "${scope}".`;
  }
  return undefined;
}

/** Whether a path leads to a value, null included. */
function has(value: unknown, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return true;
  if (Array.isArray(value)) return value.some((item) => has(item, [key, ...rest]));
  return isObject(value) && Object.hasOwn(value, key) && has(Reflect.get(value, key), rest);
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
