import { createPublicKey } from 'node:crypto';
import { type CompactVerifyResult, compactVerify, createRemoteJWKSet, customFetch, errors } from 'jose';
import * as z from 'zod';
import type { JwtKey } from '../config/auth.ts';
import { PUBLIC_ALGORITHMS as algorithms } from '../config/credentials.ts';
import { type ClientError, reasonOf, requestError } from '../errors.ts';

/** The keys that verify the signatures of tokens. */
export interface Keys {
  /** Verifies a signature. Throws jose's errors, whatever WebCrypto throws, and OVERLOADED while there are no keys. */
  verify(token: string): Promise<CompactVerifyResult>;
  /** Changes whenever the keys change; undefined while there never was a key. */
  readonly generation: unknown;
  /** Until when a verified token may be trusted without a new check, in milliseconds since 1970. */
  readonly trustedUntil: number;
}

/** The keys that a configuration names. `warn` reports keys that cannot be fetched or imported. */
export function createKeys(source: JwtKey, warn: (message: string) => void): Keys {
  if (source.kind === 'jwks') return new RemoteKeys(source.url, warn);
  return {
    verify: (token) => compactVerify(token, source.key, { algorithms: source.algorithms }),
    generation: source,
    trustedUntil: Number.POSITIVE_INFINITY,
  };
}

/** How long the key server may take to respond with a key set, in milliseconds, and the largest response, in bytes. */
const FETCH_TIMEOUT_MS = 3_000;
const MAX_BYTES = 1_048_576;
/** How long a fetched key set is used before it is fetched again, in milliseconds. */
const MAX_AGE_MS = 600_000;
/** How long a key set stays valid while the key server cannot be reached. */
const MAX_STALE_MS = 3_600_000;
/** The time between attempts after a failed one, and the least time between fetches for unknown key ids. */
const RETRY_MS = 30_000;

/**
 * A key set that is fetched from a URL. It is fetched again when it is older than ten minutes, or for a key id that it does
 * not have. While the server cannot be reached, the last keys stay valid for an hour.
 */
class RemoteKeys implements Keys {
  readonly #url: URL;
  readonly #warn: (message: string) => void;
  readonly #keySet: ReturnType<typeof createRemoteJWKSet>;
  /** The keys of the last good set that can be imported, as JSON. */
  #keys: string | undefined;
  #fetchedAt = 0;
  #nextFetchAt = 0;
  #isFailing = false;

  constructor(url: URL, warn: (message: string) => void) {
    this.#url = url;
    this.#warn = warn;
    this.#keySet = createRemoteJWKSet(url, {
      cacheMaxAge: Number.POSITIVE_INFINITY,
      cooldownDuration: RETRY_MS,
      [customFetch]: async (_url, { headers }) => new Response(await this.#fetch(headers)),
    });
    this.#keySet.reload().catch(() => {});
  }

  get generation(): unknown {
    return this.#keys;
  }

  get trustedUntil(): number {
    return Math.min(this.#nextFetchAt, this.#fetchedAt + MAX_STALE_MS);
  }

  async verify(token: string): Promise<CompactVerifyResult> {
    if (Date.now() >= this.#nextFetchAt) {
      const reloaded = this.#keySet.reload();
      // With an earlier key set, nobody waits for a server that failed before.
      if (this.#isFailing && this.#hasKeys()) reloaded.catch(() => {});
      else await reloaded;
    }
    if (!this.#hasKeys()) throw this.#unavailable();
    try {
      return await compactVerify(token, this.#keySet, { algorithms });
    } catch (error) {
      if (error instanceof errors.JWKSMultipleMatchingKeys) return await verifyWithAny(token, error);
      // A key that is not known may be a new one, as long as the server does not say otherwise.
      if (error instanceof errors.JWKSNoMatchingKey && this.#isFailing) throw this.#unavailable();
      throw error;
    }
  }

  #hasKeys(): boolean {
    return this.#keys !== undefined && Date.now() <= this.#fetchedAt + MAX_STALE_MS;
  }

  /** Without keys, no token can be verified; this is not the caller's mistake. */
  #unavailable(): ClientError {
    const retryAfterMs = Math.max(1_000, this.#nextFetchAt - Date.now());
    const message = 'Tokens cannot be verified at the moment; try again shortly.';
    return requestError('OVERLOADED', 503, message, { retryable: true, retryAfterMs });
  }

  /** The key set as JSON: fetched now, or the last good one while the server fails. Throws OVERLOADED. */
  async #fetch(headers: Headers): Promise<string> {
    const from = `${this.#url.origin}${this.#url.pathname}`;
    if (!this.#isFailing || Date.now() >= this.#nextFetchAt) {
      try {
        const { keys, usable } = readKeySet(await fetchText(this.#url, headers));
        const left = keys.length - usable.length;
        const text = JSON.stringify({ keys: usable });
        if (left > 0 && text !== this.#keys) this.#warn(`${left} keys of ${from} cannot be imported and are left out`);
        this.#keys = text;
        this.#fetchedAt = Date.now();
        this.#nextFetchAt = this.#fetchedAt + MAX_AGE_MS;
        this.#isFailing = false;
      } catch (error) {
        this.#isFailing = true;
        this.#nextFetchAt = Date.now() + RETRY_MS;
        const { cause } = Object(error); // `fetch failed` says nothing; its cause does.
        const reason = cause === undefined ? reasonOf(error) : `${reasonOf(error)} (${reasonOf(cause)})`;
        this.#warn(`the keys for tokens cannot be fetched from ${from}: ${reason}`);
      }
    }
    if (this.#keys === undefined || !this.#hasKeys()) throw this.#unavailable();
    return this.#keys;
  }
}

/** Several keys fit a token without a key id, as during a rotation: each is tried. */
async function verifyWithAny(token: string, candidates: errors.JWKSMultipleMatchingKeys): Promise<CompactVerifyResult> {
  for await (const key of candidates) {
    const verified = await compactVerify(token, key, { algorithms }).catch(() => undefined);
    if (verified) return verified;
  }
  throw new errors.JWSSignatureVerificationFailed();
}

const KEY_SET = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

/** The keys of a set, and those of them that can be imported. */
function readKeySet(text: string) {
  const { data } = KEY_SET.safeParse(JSON.parse(text));
  if (!data) throw new Error('this is no JSON Web Key Set; if it is a discovery document, use its jwks_uri');
  const usable = data.keys.filter((key) => {
    try {
      return createPublicKey({ key, format: 'jwk' });
    } catch {
      return false;
    }
  });
  return { ...data, usable };
}

async function fetchText(url: URL, headers: Headers): Promise<string> {
  // Not AbortSignal.timeout: on Node 20 it can be collected before the whole body has arrived.
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error('no response in time')), FETCH_TIMEOUT_MS);
  try {
    const response = await fetch(url, { headers, redirect: 'manual', signal: controller.signal });
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
