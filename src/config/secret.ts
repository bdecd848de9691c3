import { inspect } from 'node:util';

const values = new WeakMap<Secret, string>();

/**
 * A key that cannot be shown by accident: it prints as `[secret]` however it is printed, and JSON leaves it out.
 * Only `reveal` gives the value, and only the REST client has a reason to call it.
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

  [Symbol.toPrimitive](): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}

/** The value of a secret, to be put where it belongs and nowhere else. */
export function reveal(secret: Secret): string {
  const value = values.get(secret);
  if (value === undefined) throw new TypeError('Only a Secret made by this program can be revealed.');
  return value;
}
