import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { type CompactVerifyGetKey, type CompactVerifyResult, compactVerify, createLocalJWKSet, errors } from 'jose';
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

/** How long the key server may take to respond, in milliseconds, and the largest response, in bytes. */
const FETCH_TIMEOUT_MS = 3_000;
const MAX_BYTES = 1_048_576;
/** The age, in milliseconds, at which a key set is fetched again while requests still use it. */
const REFRESH_AFTER_MS = 300_000;
/** The age, in milliseconds, from which requests wait for the new key set, and no longer use the old one. */
const MAX_AGE_MS = 600_000;
/** The same age while the key server fails. */
const MAX_STALE_MS = 3_600_000;
/** The least time between fetches, after a failed one or for unknown key ids. */
const RETRY_MS = 30_000;

/** The keys that a configuration names. `warn` reports key sets that cannot be fetched. */
export function createKeys(source: JwtKey, warn: (message: string) => void): Keys {
  if (source.kind === 'jwks') return fetchedKeys(source.url, warn);
  return {
    verify: (token) => compactVerify(token, source.key, { algorithms: source.algorithms }),
    generation: source,
    trustedUntil: Number.POSITIVE_INFINITY,
  };
}

/** A key set from a URL. While that fails, the last good one is used. */
function fetchedKeys(url: URL, warn: (message: string) => void): Keys {
  let last: { text: string; find: CompactVerifyGetKey; fetchedAt: number } | undefined;
  let fetching = Promise.resolve();
  let retryAt = 0;
  let isFailing = false;

  /** Fetches the keys, at most every 30 seconds. Never rejects. */
  function refresh(): Promise<void> {
    if (Date.now() < retryAt) return fetching;
    retryAt = Date.now() + RETRY_MS;
    fetching = fetchText(url)
      .then((text) => {
        last = { text, find: readKeySet(text), fetchedAt: Date.now() };
        isFailing = false;
      })
      .catch((error: unknown) => {
        isFailing = true;
        const { cause } = Object(error); // `fetch failed` says nothing; its cause does.
        const reason = cause === undefined ? reasonOf(error) : `${reasonOf(error)} (${reasonOf(cause)})`;
        warn(`the keys for tokens cannot be fetched from ${url.origin}${url.pathname}: ${reason}`);
      });
    return fetching;
  }

  const find: CompactVerifyGetKey = async (header, token) => {
    const age = () => Date.now() - (last?.fetchedAt ?? 0);
    const refreshed = age() > REFRESH_AFTER_MS ? refresh() : undefined;
    // With an earlier key set, nobody waits for a slow server, or for one that failed before.
    if (age() > (isFailing ? MAX_STALE_MS : MAX_AGE_MS)) await refreshed;
    if (!last || age() > MAX_STALE_MS) throw unavailable(retryAt);
    try {
      return await last.find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      // A key that is not known may be a new one, as long as the server does not say otherwise.
      await refresh();
      if (isFailing) throw unavailable(retryAt);
      return await last.find(header, token);
    }
  };
  void refresh();

  return {
    async verify(token) {
      try {
        return await compactVerify(token, find, { algorithms });
      } catch (error) {
        if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
        // Several keys fit a token without a key id, as during a rotation.
        for await (const key of error) {
          const verified = await compactVerify(token, key, { algorithms }).catch(() => undefined);
          if (verified) return verified;
        }
        throw new errors.JWSSignatureVerificationFailed();
      }
    },
    get generation() {
      // Without keys the gateway is not ready and gets no requests, so the readiness probe fetches them.
      if (!last) void refresh();
      return last?.text;
    },
    get trustedUntil() {
      return last ? last.fetchedAt + (isFailing ? MAX_STALE_MS : MAX_AGE_MS) : 0;
    },
  };
}

/** Without keys, no token can be verified; this is not the caller's mistake. */
function unavailable(retryAt: number): ClientError {
  const retryAfterMs = Math.max(1_000, retryAt - Date.now());
  const message = 'Tokens cannot be verified at the moment; try again shortly.';
  return requestError('OVERLOADED', 503, message, { retryable: true, retryAfterMs });
}

/** jose leaves out the keys that it cannot import: tokens that name them have no valid signature. Throws if it can import none. */
function readKeySet(text: string): CompactVerifyGetKey {
  const set = JSON.parse(text);
  if (!Array.isArray(set?.keys) || set.keys.length === 0) {
    throw new Error('this is no JSON Web Key Set with keys; if it is a discovery document, use its jwks_uri');
  }
  if (!set.keys.some(isPublicKey)) throw new Error('none of its keys can be imported');
  return createLocalJWKSet(set);
}

function isPublicKey(key: JsonWebKey): boolean {
  try {
    return createPublicKey({ key, format: 'jwk' }).type === 'public';
  } catch {
    return false;
  }
}

async function fetchText(url: URL): Promise<string> {
  // Not AbortSignal.timeout: on Node 20 it can be collected before the whole body has arrived.
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error('no response in time')), FETCH_TIMEOUT_MS);
  try {
    const response = await fetch(url, { redirect: 'manual', signal: controller.signal });
    if (response.status !== 200 || !response.body) throw new Error(`the key server responded with ${response.status}`);
    const reader = response.body.getReader();
    let bytes = Buffer.alloc(0);
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      bytes = Buffer.concat([bytes, part.value]);
      if (bytes.length > MAX_BYTES) throw new Error('the response is too large');
    }
    return bytes.toString();
  } finally {
    clearTimeout(timer);
    // Nothing more is read of a response that is refused.
    controller.abort();
  }
}
