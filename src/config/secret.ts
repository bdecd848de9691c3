import { inspect } from 'node:util';

const values = new WeakMap<Secret, string>();

/**
 * A key or password that cannot be shown by accident: it always prints as `[secret]`, and JSON leaves it out.
 * Only `reveal` returns the value.
 */
export class Secret {
  constructor(value: string) {
    values.set(this, value);
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): undefined {
    return undefined;
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}

/** The value of a secret. Call this only where the value is used. Never log it or store it in an object. */
export function reveal(secret: Secret): string {
  const value = values.get(secret);
  if (value === undefined) throw new TypeError('Only a Secret made by this program can be revealed.');
  return value;
}
