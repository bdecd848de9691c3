import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { onFileChange } from './file-change.ts';

const values = new WeakMap<Secret, string>();

/**
 * A key or password that cannot be shown by accident: it always prints as `[secret]`, and JSON leaves it out.
 * Only `reveal` returns the value. A secret in a file can change while the process runs.
 */
export class Secret {
  readonly #listeners: (() => void)[] = [];

  constructor(value: string) {
    values.set(this, value);
  }

  /** Replaces the value. */
  change(value: string): void {
    values.set(this, value);
    for (const changed of this.#listeners) changed();
  }

  /** Calls `changed` after each change. */
  onChange(changed: () => void): void {
    this.#listeners.push(changed);
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

/** The value of a secret now. Call this only where the value is used. Never log it or store it in an object. */
export function reveal(secret: Secret): string {
  const value = values.get(secret);
  if (value === undefined) throw new TypeError('Only a Secret made by this program can be revealed.');
  return value;
}

/**
 * A secret in a file, without white space at its end. Throws when the file cannot be read now. When it cannot be read
 * later (it is being replaced), or is empty then, the last value stays valid.
 */
export function secretFromFile(path: string): Secret {
  let secret: Secret | undefined;
  onFileChange(path, () => {
    try {
      secret?.change(readSecret(path));
    } catch {
      // The file is missing or empty while it is being replaced; the next change is read again.
    }
  });
  secret = new Secret(readSecret(path));
  return secret;
}

function readSecret(path: string): string {
  const text = readFileSync(path, 'utf8').trimEnd();
  if (text === '') throw new Error('it is empty');
  return text;
}
