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

/** How long the key server may take to respond with a key set, in milliseconds, and the largest response, in bytes. */
const FETCH_TIMEOUT_MS = 3_000;
const MAX_BYTES = 1_048_576;
/** How long a fetched key set is used before it is fetched again, and how long while the server fails, in milliseconds. */
const MAX_AGE_MS = 600_000;
const MAX_STALE_MS = 3_600_000;
/** The time between attempts after a failed one, and the least time between fetches for unknown key ids. */
const RETRY_MS = 30_000;

/** The keys that a configuration names. `warn` reports keys that cannot be fetched or imported. */
export function createKeys(source: JwtKey, warn: (message: string) => void): Keys {
  if (source.kind === 'jwks') return fetchedKeys(source.url, warn);
  return {
    verify: (token) => compactVerify(token, source.key, { algorithms: source.algorithms }),
    generation: source,
    trustedUntil: Number.POSITIVE_INFINITY,
  };
}

/** A key set from a URL. It is fetched again when it is older than ten minutes, or for a key id that it does not have. */
function fetchedKeys(url: URL, warn: (message: string) => void): Keys {
  const from = `${url.origin}${url.pathname}`;
  /** The keys of the last good set that can be imported, as JSON. */
  let keys: string | undefined;
  let fetchedAt = 0;
  let nextFetchAt = 0;
  let isFailing = false;
  const hasKeys = () => keys !== undefined && Date.now() <= fetchedAt + MAX_STALE_MS;

  /** The key set as JSON: fetched now, or the last good one while the server fails. Throws OVERLOADED. */
  async function load(headers: Headers): Promise<string> {
    if (!isFailing || Date.now() >= nextFetchAt) {
      try {
        const { left, usable } = readKeySet(await fetchText(url, headers));
        if (left > 0 && usable !== keys) warn(`${left} keys of ${from} cannot be imported and are left out`);
        keys = usable;
        fetchedAt = Date.now();
        nextFetchAt = fetchedAt + MAX_AGE_MS;
        isFailing = false;
      } catch (error) {
        isFailing = true;
        nextFetchAt = Date.now() + RETRY_MS;
        const { cause } = Object(error); // `fetch failed` says nothing; its cause does.
        const reason = cause === undefined ? reasonOf(error) : `${reasonOf(error)} (${reasonOf(cause)})`;
        warn(`the keys for tokens cannot be fetched from ${from}: ${reason}`);
      }
    }
    if (keys === undefined || !hasKeys()) throw unavailable(nextFetchAt);
    return keys;
  }

  const keySet = createRemoteJWKSet(url, {
    cacheMaxAge: Number.POSITIVE_INFINITY,
    cooldownDuration: RETRY_MS,
    [customFetch]: async (_url, { headers }) => new Response(await load(headers)),
  });
  keySet.reload().catch(() => {});

  async function verify(token: string): Promise<CompactVerifyResult> {
    if (Date.now() >= nextFetchAt) {
      const reloaded = keySet.reload();
      // With an earlier key set, nobody waits for a server that failed before.
      if (isFailing && hasKeys()) reloaded.catch(() => {});
      else await reloaded;
    }
    if (!hasKeys()) throw unavailable(nextFetchAt);
    try {
      return await compactVerify(token, keySet, { algorithms });
    } catch (error) {
      if (error instanceof errors.JWKSMultipleMatchingKeys) return await verifyWithAny(token, error);
      // A key that is not known may be a new one, as long as the server does not say otherwise.
      if (error instanceof errors.JWKSNoMatchingKey && isFailing) throw unavailable(nextFetchAt);
      throw error;
    }
  }

  return {
    verify,
    get generation() {
      return keys;
    },
    get trustedUntil() {
      return Math.min(nextFetchAt, fetchedAt + MAX_STALE_MS);
    },
  };
}

/** Without keys, no token can be verified; this is not the caller's mistake. */
function unavailable(nextFetchAt: number): ClientError {
  const retryAfterMs = Math.max(1_000, nextFetchAt - Date.now());
  const message = 'Tokens cannot be verified at the moment; try again shortly.';
  return requestError('OVERLOADED', 503, message, { retryable: true, retryAfterMs });
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

/** The keys of a set that can be imported, as JSON, and the number of the others. */
function readKeySet(text: string) {
  const { data } = KEY_SET.safeParse(JSON.parse(text));
  if (!data) throw new Error('this is no JSON Web Key Set; if it is a discovery document, use its jwks_uri');
  const keys = data.keys.filter((key) => {
    try {
      return createPublicKey({ key, format: 'jwk' });
    } catch {
      return false;
    }
  });
  return { left: data.keys.length - keys.length, usable: JSON.stringify({ keys }) };
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
