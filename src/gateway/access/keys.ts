import { type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import type { LocalKey } from '../../config/jwt-keys.ts';
import { reveal, type Secret } from '../../config/secret.ts';

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

/** One key from the configuration, read again whenever its source changes. */
export class LocalKeys implements Keys {
  readonly isReady = true;
  readonly trustedUntil = Number.POSITIVE_INFINITY;
  generation: LocalKey;

  constructor(source: Secret, read: (text: string) => LocalKey, warn: (message: string) => void) {
    this.generation = read(reveal(source));
    source.onChange(() => {
      try {
        this.generation = read(reveal(source));
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        warn(`the earlier key for tokens stays in force: ${reason}`);
      }
    });
  }

  async check(token: string, options: JWTVerifyOptions): Promise<JWTPayload> {
    const { key, algorithms } = this.generation;
    return (await jwtVerify(token, key, { ...options, algorithms: [...algorithms] })).payload;
  }
}
