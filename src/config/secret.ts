import { inspect } from 'node:util';

/** A key or password that cannot be shown by accident: it always prints as `[secret]`, and JSON leaves it out. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value of a secret. Call this only where the value is used. Never log it or store it in an object. */
  static reveal(secret: Secret): string {
    return secret.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): void {}

  [inspect.custom](): string {
    return '[secret]';
  }
}

export const { reveal } = Secret;
