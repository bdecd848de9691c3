import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync, watchFile } from 'node:fs';
import { inspect } from 'node:util';

/** How often the file of a key is looked at, in milliseconds. */
const LOOK_EVERY_MS = 1_000;

/** A key that callers must show. However it is printed, its value is not. */
export class Key {
  #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /**
   * A key that stands in a file, without the line break at its end, re-read when the file changes. Throws when it cannot
   * be read now; when it cannot be read later (it is being replaced) or is empty then, the last value stays.
   */
  static fromFile(path: string): Key {
    const key = new Key(readKey(path));
    watchFile(path, { interval: LOOK_EVERY_MS, persistent: false }, () => {
      try {
        key.#value = readKey(path);
      } catch {
        // Gone or empty for the moment; the next change brings it back.
      }
    });
    return key;
  }

  /** Whether `given` is this key, in a time that tells nothing about how much of it is right. */
  matches(given: string | undefined): boolean {
    return given !== undefined && timingSafeEqual(digest(given), digest(this.#value));
  }

  /** The value, for the operator's command, which shows it to a running service. */
  reveal(): string {
    return this.#value;
  }

  toJSON(): string {
    return '[key]';
  }

  toString(): string {
    return '[key]';
  }

  [inspect.custom](): string {
    return '[key]';
  }
}

/** The two keys of the account. */
export interface Keys {
  /** Every call needs it. */
  apiKey: Key;
  /** Deleting players and reading coupons need it too. */
  secretKey: Key;
}

function readKey(path: string): string {
  const text = readFileSync(path, 'utf8').trimEnd();
  if (text === '') throw new Error('it is empty');
  return text;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
