import { createHash, timingSafeEqual } from 'node:crypto';

/** A key that callers must send. Only its hash is kept, so that it can never be printed, logged or serialised. */
export class Key {
  readonly #digest: Buffer;

  constructor(value: string) {
    this.#digest = digest(value);
  }

  /** Whether `given` is this key. Takes the same time however much of it is right. */
  matches(given: string | undefined): boolean {
    return given !== undefined && timingSafeEqual(digest(given), this.#digest);
  }
}

const digest = (text: string) => createHash('sha256').update(text).digest();
