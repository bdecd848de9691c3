import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createRemoteJWKSet, customFetch, type FlattenedJWSInput, type JWTHeaderParameters } from 'jose';
import type { EgressProxy } from '../config/config.ts';
import { fetchFor } from '../egress-proxy.ts';
import { type ClientError, reasonOf, requestError } from '../errors.ts';
import { isJson, type Json } from '../json.ts';

export interface KeySetOptions {
  log: { info(message: string): void; warn(message: string): void };
  proxy?: EgressProxy | undefined;
}

export type KeySet = ReturnType<typeof createKeySet>;

/** How long a fetch may take, in milliseconds: a resolver asks a second name server after 5 s. */
const FETCH_TIMEOUT_MS = 7_000;
/** How long requests wait for a fetch, from its beginning, in milliseconds. */
const WAIT_MS = 3_000;
/** The largest response, in bytes. */
const MAX_BYTES = 1_048_576;
/** The age, in milliseconds, at which a key set is fetched again while requests still use it. */
const REFRESH_AFTER_MS = 300_000;
/** The age, in milliseconds, from which requests wait for the new key set, and no longer use the old one. */
const MAX_AGE_MS = 600_000;
/** The same age while the key server fails. */
const MAX_STALE_MS = 3_600_000;
/** The pause after a failed fetch, in milliseconds; and the pauses while there are no keys. */
const RETRY_MS = 30_000;
const FIRST_RETRIES_MS = [1_000, 2_000, 4_000];
const LAST_RETRIES_MS = 5_000;

/** jose keeps the keys and finds the one of a token. It fetches them when `reload` is called, and at no other time. */
function createJoseSet(url: URL, proxy: EgressProxy | undefined) {
  const fetch = fetchFor(url, proxy);
  return createRemoteJWKSet(url, {
    cacheMaxAge: Number.POSITIVE_INFINITY,
    cooldownDuration: Number.POSITIVE_INFINITY,
    [customFetch]: (href, { headers }) => fetchKeys(fetch, href, headers),
  });
}

/** A key set from a URL, fetched at once, and again by the monotonic clock. While that fails, the last good one is used. */
export function createKeySet(url: URL, { log, proxy }: KeySetOptions) {
  const set = createJoseSet(url, proxy);
  /** A fetch that is not over: whether it brings a new set in time. */
  let fetching: Promise<boolean> | undefined;
  let text: string | undefined;
  let fetchedAt = performance.now();
  let changedAt = 0;
  let retryAt = 0;
  let failures = 0;

  const age = () => performance.now() - fetchedAt;
  const isUsable = (maxAge: number) => text !== undefined && age() <= maxAge;
  const isFresh = () => isUsable(failures > 0 ? MAX_STALE_MS : MAX_AGE_MS);
  const ids = () => JSON.stringify((set.jwks()?.keys ?? []).map(({ kid }) => kid)).slice(0, 1_000);

  function failed(error: unknown): false {
    fetching = undefined;
    const pause = isUsable(MAX_STALE_MS) ? RETRY_MS : (FIRST_RETRIES_MS[failures] ?? LAST_RETRIES_MS);
    failures += 1;
    retryAt = performance.now() + pause;
    // Without keys the gateway is not ready and gets no requests that could fetch them.
    if (text === undefined) setTimeout(reload, pause).unref();
    log.warn(`the keys for tokens cannot be fetched from ${url.origin}${url.pathname}: ${withCause(error)}`);
    return false;
  }

  /** Fetches the key set, or joins a fetch. Never rejects; resolves to whether there is a new one in time. */
  async function reload(): Promise<boolean> {
    const begun = performance.now();
    const loaded = () => {
      fetching = undefined;
      const before = text;
      text = JSON.stringify(set.jwks());
      [fetchedAt, failures] = [begun, 0];
      if (before !== text) changedAt = performance.now();
      if (before !== undefined && before !== text) log.info(`the key set has changed; its keys are ${ids()}`);
      return true;
    };
    fetching ??= Promise.race([set.reload().then(loaded, failed), delay(WAIT_MS, false, { ref: false })]);
    return fetching;
  }
  void reload();

  return {
    /** Finds the key of a token. Where no key of the set has an id, that of the token says nothing. Throws jose's errors. */
    find: (header: JWTHeaderParameters, token: FlattenedJWSInput) =>
      set(text?.includes('"kid":') ? header : { alg: header.alg }, token),
    reload,
    isFetching: () => fetching !== undefined,
    /** When the fetch of the present keys began, by `performance.now()`. */
    fetchedAt: () => fetchedAt,
    /** Fetches old keys again. Waits only when they may not be used any more; throws OVERLOADED when there are no others. */
    async refresh(): Promise<void> {
      if (text !== undefined && age() > REFRESH_AFTER_MS && performance.now() >= retryAt) void reload();
      // With an earlier key set, nobody waits for a slow server, or for one that failed before.
      if (!isFresh()) await fetching;
      if (!isUsable(MAX_STALE_MS)) throw unavailable(retryAt - performance.now());
    },
    /** Whether a token whose verification began then needs no new one. By `performance.now()`. */
    isCurrent: (verifiedAt: number) => verifiedAt > changedAt && isFresh(),
    isReady: () => text !== undefined,
    age,
    ids,
  };
}

/** `fetch failed` says nothing; its cause does. */
function withCause(error: unknown): string {
  const { cause } = Object(error);
  return cause === undefined ? reasonOf(error) : `${reasonOf(error)} (${reasonOf(cause) || cause.code})`;
}

/** Without its key, a token cannot be verified; this is not the caller's mistake. */
export function unavailable(afterMs: number): ClientError {
  const retryAfterMs = Math.max(1_000, Math.ceil(afterMs));
  const message = 'Tokens cannot be verified at the moment; try again shortly.';
  return requestError('OVERLOADED', 503, message, { retryable: true, retryAfterMs });
}

/** A response with the keys of a set that are not private (`d`), for jose. Throws if none of them can be imported. */
async function fetchKeys(fetch: typeof globalThis.fetch, href: string, headers: Headers): Promise<Response> {
  // Not jose's AbortSignal.timeout: on Node 20 it can be collected before the whole body has arrived.
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new Error('no response in time')), FETCH_TIMEOUT_MS);
  try {
    const response = await fetch(href, { headers, redirect: 'manual', signal: controller.signal });
    if (!response.ok || !response.body) throw new Error(`the key server responded with ${response.status}`);
    const reader = response.body.getReader();
    let bytes = Buffer.alloc(0);
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      bytes = Buffer.concat([bytes, part.value]);
      if (bytes.length > MAX_BYTES) throw new Error('the response is too large');
    }
    // Some servers write null, or an empty list, for what a key does not have. WebCrypto refuses both.
    const set = JSON.parse(bytes.toString().trim(), (_, value) =>
      value?.length === 0 ? undefined : (value ?? undefined),
    );
    if (!Array.isArray(set?.keys) || set.keys.length === 0) {
      throw new Error('this is no JSON Web Key Set with keys; if it is a discovery document, use its jwks_uri');
    }
    const keys = set.keys.filter((key: unknown) => isJson(key) && key['d'] === undefined).map(forVerifying);
    if (!keys.some(isPublicKey)) throw new Error('none of its keys is a public key that can be imported');
    return Response.json({ keys });
  } finally {
    clearTimeout(timer);
    // Nothing more is read of a response that is refused.
    controller.abort();
  }
}

/**
 * A key as jose and WebCrypto take it. WebCrypto refuses a public key that is for signing too, and text in `ext`. An Ed25519 key and
 * its tokens can have different names of their one algorithm: EdDSA, or Ed25519 (RFC 9864).
 */
function forVerifying({ ext: _, key_ops: uses, ...key }: Json): Json {
  const ownUses = Array.isArray(uses) && uses.includes('verify') ? ['verify'] : uses;
  return { ...key, key_ops: ownUses, ...(key['crv'] === 'Ed25519' && { alg: undefined }) };
}

function isPublicKey(key: JsonWebKey): boolean {
  try {
    return createPublicKey({ key, format: 'jwk' }).type === 'public';
  } catch {
    return false;
  }
}
