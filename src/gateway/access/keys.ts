import {
  createRemoteJWKSet,
  type JWKSCacheInput,
  type JWTPayload,
  type JWTVerifyOptions,
  jwksCache,
  jwtVerify,
} from 'jose';
import type { JwtKey } from '../../config/auth.ts';
import { type LocalKey, readPublicKey, readSharedSecret, SIGNATURES } from '../../config/jwt-keys.ts';
import { reveal } from '../../config/secret.ts';
import type { SecretSource } from '../../config/secret-file.ts';

/** What signatures are checked against. */
export interface Keys {
  /** The claims of a token whose signature and registered claims hold; throws otherwise. */
  check(token: string, options: JWTVerifyOptions): Promise<JWTPayload>;
  /** Changes whenever the keys change, so that nothing verified with earlier ones is trusted longer. */
  generation(): unknown;
  /** Until when a verified token may be trusted without asking the keys again, in milliseconds since 1970. */
  trustedUntil(): number;
}

/** How long a key set is waited for, and kept; and how soon an unknown key id may cause it to be fetched again. */
const JWKS_TIMEOUT_MS = 3_000;
const JWKS_MAX_AGE_MS = 600_000;
const JWKS_COOLDOWN_MS = 30_000;

/** The keys a configuration names. `warn` hears of a key file that changed into something that is no key. */
export function createKeys(key: JwtKey, warn: (message: string) => void): Keys {
  switch (key.kind) {
    case 'jwks':
      return remoteKeys(key.url);
    case 'public-key':
      return localKeys(key.pem, readPublicKey, warn);
    case 'secret':
      return localKeys(key.secret, readSharedSecret, warn);
    default:
      return key satisfies never;
  }
}

/**
 * A key set behind a URL. It is fetched again when it is older than ten minutes, or for a key id it does not hold, at most
 * every 30 seconds. Each fetch is a new generation, so a key that was taken out is trusted for ten minutes at most.
 */
function remoteKeys(url: URL): Keys {
  const cache: JWKSCacheInput = {};
  const keySet = createRemoteJWKSet(url, {
    timeoutDuration: JWKS_TIMEOUT_MS,
    cooldownDuration: JWKS_COOLDOWN_MS,
    cacheMaxAge: JWKS_MAX_AGE_MS,
    [jwksCache]: cache,
  });
  const algorithms = [...SIGNATURES.rsa, ...SIGNATURES.ec, ...SIGNATURES.ed25519];
  return {
    check: async (token, options) => (await jwtVerify(token, keySet, { ...options, algorithms })).payload,
    generation: () => cache['uat'],
    trustedUntil: () => (cache['uat'] ?? 0) + JWKS_MAX_AGE_MS,
  };
}

/** One key from the configuration, read again whenever its source has another value. */
function localKeys(source: SecretSource, read: (text: string) => LocalKey, warn: (message: string) => void): Keys {
  let seen = source();
  let current = read(reveal(seen));
  function newest(): LocalKey {
    const now = source();
    if (now === seen) return current;
    seen = now;
    try {
      current = read(reveal(now));
    } catch (error) {
      warn(`the earlier key for tokens stays in force: ${error instanceof Error ? error.message : String(error)}`);
    }
    return current;
  }
  return {
    async check(token, options) {
      const { key, algorithms } = newest();
      return (await jwtVerify(token, key, { ...options, algorithms: [...algorithms] })).payload;
    },
    generation: newest,
    trustedUntil: () => Number.POSITIVE_INFINITY,
  };
}
