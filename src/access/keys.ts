import { createLocalJWKSet, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import { reasonOf } from '../config/environment.ts';
import { type LocalKey, SIGNATURES } from '../config/jwt-keys.ts';
import { reveal, type Secret } from '../config/secret.ts';

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

/** One key from the configuration. */
export class LocalKeys implements Keys {
  readonly isReady = true;
  readonly trustedUntil = Number.POSITIVE_INFINITY;
  readonly generation: LocalKey;

  constructor(source: Secret, read: (text: string) => LocalKey) {
    this.generation = read(reveal(source));
  }

  async check(token: string, options: JWTVerifyOptions): Promise<JWTPayload> {
    const { key, algorithms } = this.generation;
    return (await jwtVerify(token, key, { ...options, algorithms: [...algorithms] })).payload;
  }
}

/** How long the key server may take to respond with a key set, in milliseconds, and the largest response, in bytes. */
const FETCH_TIMEOUT_MS = 3_000;
const MAX_BYTES = 1_048_576;
/** How long a fetched key set is used before it is fetched again, in milliseconds. */
const MAX_AGE_MS = 600_000;
/** How long a key set stays valid while the key server cannot be reached. */
const MAX_STALE_MS = 3_600_000;
/** How soon an unknown key id may cause another fetch. */
const COOLDOWN_MS = 30_000;
/** The first pause after a failed fetch; doubled after each further one. */
const FIRST_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 30_000;

const ALGORITHMS = [...SIGNATURES.rsa, ...SIGNATURES.ec, ...SIGNATURES.ed25519];

/**
 * A key set that is fetched from a URL. It is fetched again when it is older than ten minutes, or for a key id that it does
 * not have. While the server cannot be reached, the last keys stay valid for an hour, and the fetch is repeated with
 * exponential backoff.
 */
export class RemoteKeys implements Keys {
  readonly #url: URL;
  readonly #warn: (message: string) => void;
  #keySet: ReturnType<typeof createLocalJWKSet> | undefined;
  /** The text of the key set. */
  #text: string | undefined;
  #fetchedAt = 0;
  #triedAt = 0;
  #failures = 0;
  #fetching: Promise<void> | undefined;

  constructor(url: URL, warn: (message: string) => void) {
    this.#url = url;
    this.#warn = warn;
    void this.#refresh();
  }

  get generation(): unknown {
    return this.#text;
  }

  get isReady(): boolean {
    return this.#keySet !== undefined;
  }

  get trustedUntil(): number {
    return Math.max(this.#fetchedAt + MAX_AGE_MS, this.#triedAt + this.#backoffMs);
  }

  async check(token: string, options: JWTVerifyOptions): Promise<JWTPayload> {
    if (Date.now() - this.#fetchedAt > MAX_AGE_MS) await this.#refresh();
    try {
      return await this.#verify(token, options);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || Date.now() - this.#triedAt < COOLDOWN_MS) throw error;
      await this.#refresh();
      // The fetch failed, so nothing is known about this token.
      if (this.#failures > 0) throw new KeysUnavailable(this.#backoffMs);
      return await this.#verify(token, options);
    }
  }

  async #verify(token: string, options: JWTVerifyOptions): Promise<JWTPayload> {
    if (!this.#keySet || Date.now() - this.#fetchedAt > MAX_STALE_MS) throw new KeysUnavailable(this.#backoffMs);
    return (await jwtVerify(token, this.#keySet, { ...options, algorithms: ALGORITHMS })).payload;
  }

  get #backoffMs(): number {
    return Math.min(FIRST_BACKOFF_MS * 2 ** Math.max(0, this.#failures - 1), MAX_BACKOFF_MS);
  }

  /** Fetches the keys unless that failed within the backoff time. Never rejects. */
  #refresh(): Promise<void> {
    if (this.#failures > 0 && Date.now() - this.#triedAt < this.#backoffMs) return Promise.resolve();
    this.#fetching ??= this.#fetch().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  async #fetch(): Promise<void> {
    try {
      const text = await fetchText(this.#url);
      // Parsed first, so that invalid text changes nothing.
      if (text !== this.#text) this.#keySet = createLocalJWKSet(JSON.parse(text));
      this.#text = text;
      this.#fetchedAt = Date.now();
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      this.#warn(`the keys for tokens cannot be fetched: ${reasonOf(error)}`);
    }
    this.#triedAt = Date.now();
  }
}

async function fetchText(url: URL): Promise<string> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error('no response in time')), FETCH_TIMEOUT_MS);
  try {
    const headers = { accept: 'application/jwk-set+json, application/json' };
    const response = await fetch(url, { headers, redirect: 'error', signal: controller.signal });
    if (response.status !== 200 || !response.body) throw new Error(`the key server responded with ${response.status}`);
    const reader = response.body.getReader();
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      bytes += part.value.length;
      if (bytes > MAX_BYTES) throw new Error('the response is too large');
      chunks.push(part.value);
    }
    return Buffer.concat(chunks).toString();
  } finally {
    clearTimeout(timer);
    // Nothing more is read of a response that is refused.
    controller.abort();
  }
}
