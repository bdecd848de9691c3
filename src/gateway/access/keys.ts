import { type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import type { LocalKey } from '../../config/jwt-keys.ts';
import { reveal } from '../../config/secret.ts';
import type { SecretSource } from '../../config/secret-file.ts';

/** The keys that verify the signatures of tokens. */
export interface Keys {
  /**
   * The claims of a token whose signature and registered claims are valid. Throws jose's errors for a token that is not, and
   * `KeysUnavailable`.
   */
  check(token: string, options: JWTVerifyOptions): Promise<JWTPayload>;
  /** Changes whenever the keys change. */
  readonly generation: unknown;
  /** Until when a verified token may be trusted without a new check, in milliseconds since 1970. */
  readonly trustedUntil: number;
  /** Whether there ever was a key. */
  readonly isReady: boolean;
}

/** No key is available; not the caller's fault. */
export class KeysUnavailable extends Error {
  /** When a retry can succeed, in milliseconds from now. */
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super('The keys for tokens are not available');
    this.retryAfterMs = retryAfterMs;
  }
}

/** One key from the configuration, read again whenever its source has another value. */
export class LocalKeys implements Keys {
  readonly isReady = true;
  readonly trustedUntil = Number.POSITIVE_INFINITY;
  readonly #source: SecretSource;
  readonly #read: (text: string) => LocalKey;
  readonly #warn: (message: string) => void;
  #seen: ReturnType<SecretSource>;
  #current: LocalKey;

  constructor(source: SecretSource, read: (text: string) => LocalKey, warn: (message: string) => void) {
    this.#source = source;
    this.#read = read;
    this.#warn = warn;
    this.#seen = source();
    this.#current = read(reveal(this.#seen));
  }

  get generation(): LocalKey {
    const now = this.#source();
    if (now === this.#seen) return this.#current;
    this.#seen = now;
    try {
      this.#current = this.#read(reveal(now));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#warn(`the earlier key for tokens stays in force: ${reason}`);
    }
    return this.#current;
  }

  async check(token: string, options: JWTVerifyOptions): Promise<JWTPayload> {
    const { key, algorithms } = this.generation;
    return (await jwtVerify(token, key, { ...options, algorithms: [...algorithms] })).payload;
  }
}
