import { errors, type JWTVerifyGetKey, type JWTVerifyOptions, type JWTVerifyResult, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import type { JwtKey } from '../config/auth.ts';
import { PUBLIC_ALGORITHMS } from '../config/credentials.ts';
import { createWindows } from '../limits/rate-limits.ts';
import { createKeySet, type KeySet, type KeySetOptions, unavailable } from './key-set.ts';

export interface TokenKeys {
  /** Verifies signature and claims. Throws jose's errors, whatever WebCrypto throws, and OVERLOADED while the key may be missing. */
  verify(token: string, options: JWTVerifyOptions): Promise<JWTVerifyResult>;
  /** Absent for a key of the configuration, which never changes. */
  set?: KeySet;
}

/** How many fetches for key ids that the key set does not have may begin in how many milliseconds. */
const MAX_LOOK_UPS = 5;
const LOOK_UP_WINDOW_MS = 30_000;
/** How many of these ids are remembered: tokens that name one of them cause no fetch in that time. */
const MAX_ABSENT = 1_000;

export function createTokenKeys(source: JwtKey, options: KeySetOptions): TokenKeys {
  if (source.kind === 'jwks') return fetchedKeys(createKeySet(source.url, options), options);
  const { key, algorithms } = source;
  return { verify: (token, options) => jwtVerify(token, key, { ...options, algorithms }) };
}

/** The keys of a key set. One that it does not have may be new, so the set is fetched before its tokens are refused. */
function fetchedKeys(set: KeySet, { log }: KeySetOptions): TokenKeys {
  const absent = new LRUCache<string, true>({ max: MAX_ABSENT, ttl: LOOK_UP_WINDOW_MS });
  const lookUps = createWindows('', MAX_LOOK_UPS, LOOK_UP_WINDOW_MS);
  /** Fetches for signatures that no key verifies. Counted apart: anybody can send one, which must not use up those for new key ids. */
  const signatureLookUps = createWindows('', MAX_LOOK_UPS, LOOK_UP_WINDOW_MS);

  /** Throws OVERLOADED when the fetch fails, or was done too often. */
  async function lookUp(kid: unknown): Promise<void> {
    const { points, ms } = lookUps.left('');
    if (!set.isFetching()) {
      if (points === 0) throw unavailable(ms);
      lookUps.change('', 1);
      log.warn(`a token names the key ${JSON.stringify(kid)?.slice(0, 100)}; the key set has ${set.ids()}`);
    }
    if (!(await set.reload())) throw unavailable(points > 1 ? 0 : ms);
  }

  const find: JWTVerifyGetKey = async (header, token) => {
    const arrivedAt = performance.now();
    await set.refresh();
    const name = JSON.stringify([header.kid, header.alg]);
    // At most three rounds: each awaited fetch began later than the last, and the third began after the token arrived.
    while (true) {
      try {
        return await set.find(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey) || absent.has(name)) throw error;
        // A fetch that began before the token came may have missed its key.
        if (set.fetchedAt() < arrivedAt) await lookUp(header.kid);
        else {
          absent.set(name, true);
          throw error;
        }
      }
    }
  };

  async function verifyNow(token: string, options: JWTVerifyOptions): Promise<JWTVerifyResult> {
    try {
      return await jwtVerify(token, find, options);
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
      // Several keys fit a token without a key id, as during a rotation.
      for await (const key of error) {
        const verified = await jwtVerify(token, key, options).catch((reason: unknown) => {
          if (isClaimError(reason)) throw reason;
        });
        if (verified) return verified;
      }
      throw new errors.JWSSignatureVerificationFailed();
    }
  }

  return {
    set,
    async verify(token, more) {
      const arrivedAt = performance.now();
      const options = { ...more, algorithms: PUBLIC_ALGORITHMS };
      return verifyNow(token, options).catch(async (error: unknown) => {
        // Some issuers replace a key and keep its id, or have no ids: the key of the token may be in a newer set.
        const mayBeNew = error instanceof errors.JWSSignatureVerificationFailed && set.fetchedAt() < arrivedAt;
        if (!mayBeNew || (!set.isFetching() && signatureLookUps.left('').points === 0)) throw error;
        if (!set.isFetching()) signatureLookUps.change('', 1);
        if (await set.reload()) return verifyNow(token, options);
        throw unavailable(0);
      });
    },
  };
}

/** Whether the signature of a token is valid, and a claim is not. */
export function isClaimError(error: unknown): error is errors.JWTClaimValidationFailed | errors.JWTExpired {
  return error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired;
}
