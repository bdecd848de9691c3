import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync, watchFile } from 'node:fs';
import { inspect } from 'node:util';

/** How often the file of a key is checked for a change. */
const FILE_CHECK_MS = 1_000;

/** A key that callers must send. Its value is never printed, logged or serialised. */
export class Key {
  #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /**
   * Reads a key from a file, without the line break at its end, and again whenever the file changes. Throws if it cannot be
   * read now. If it cannot be read later, or is empty then, the last value stays.
   */
  static fromFile(path: string): Key {
    const key = new Key(readKey(path));
    watchFile(path, { interval: FILE_CHECK_MS, persistent: false }, () => {
      try {
        key.#value = readKey(path);
      } catch {
        // The file is being replaced; the next change is read.
      }
    });
    return key;
  }

  /** Whether `given` is this key. Takes the same time however much of it is right. */
  matches(given: string | undefined): boolean {
    return given !== undefined && timingSafeEqual(digest(given), digest(this.#value));
  }

  /** The value, for the operator's command, which sends it to the running service. */
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
  /** Required for every call. */
  apiKey: Key;
  /** Required to delete players and to read coupons. */
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
