import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { AuthConfig } from '../config/auth.ts';
import { type ClientError, requestError } from '../graphql/errors.ts';
import { clientAddress } from '../limits/address.ts';
import type { RateLimits } from '../limits/rate-limits.ts';
import { anonymousCaller, type Caller, OPEN_CALLER } from './caller.ts';
import { readClientTokens } from './client-tokens.ts';
import { createJwtVerifier, type TokenFailure, type Verified } from './jwt.ts';
import { KeysUnavailable } from './keys.ts';

export interface Authentication {
  /** Returns the caller for an `Authorization` header; throws UNAUTHENTICATED. `address` is for rate limits. */
  authenticate(authorization: string | undefined, address: string): Promise<Caller>;
  /** Counts a failure and throws UNAUTHENTICATED. */
  refuse(address: string, reason: AuthenticationFailure): Promise<never>;
  /** False while no token can be verified: there are no client tokens, and no key was available yet. */
  isReady(): boolean;
}

/** Why a token was not accepted. Only metrics show it. */
export type AuthenticationFailure = 'missing' | 'malformed' | 'no-keys' | TokenFailure;

interface AuthenticationOptions {
  /** Whether a request without a token gets an anonymous caller, for health checks. */
  anonymousTypename: boolean;
  /**
   * Limits requests without a valid token, by address. Client tokens and JWTs that were verified before are not limited: many
   * users can share an address.
   */
  limit: Pick<RateLimits, 'refuseAfterFailures' | 'countFailure'>;
  /** Reports keys and tokens that cannot be fetched or read. */
  warn(message: string): void;
  /** Called for each request whose token is not accepted. */
  onFailure(reason: AuthenticationFailure): void;
}

const SCHEME = /^Bearer +/i;
/** The characters of a bearer token (RFC 6750, section 2.1). */
const TOKEN = /^[\w.~+/-]+=*$/;
const MAX_TOKEN_LENGTH = 8_192;

/** How many verified tokens are kept; the least recently used are evicted. */
const MAX_TOKENS = 10_000;

/**
 * The authentication that a configuration asks for. Throws when a file of tokens or keys cannot be read.
 *
 * Verifying a signature costs about as much as a small request. So verified tokens are kept until they expire or the keys
 * change, by a hash of the whole `Authorization` header, the signature included
 * (docs/decisions/0012-remember-verified-tokens.md).
 */
export function createAuthentication(
  config: AuthConfig,
  { anonymousTypename, limit, warn, onFailure }: AuthenticationOptions,
): Authentication {
  const refuse: Authentication['refuse'] = async (address, reason) => {
    onFailure(reason);
    limit.refuseAfterFailures(address);
    await limit.countFailure(address);
    throw unauthenticated();
  };
  if (config.kind === 'open') return { authenticate: async () => OPEN_CALLER, refuse, isReady: () => true };
  const clientTokens = config.clientTokensFile ? readClientTokens(config.clientTokensFile) : undefined;
  const jwt = config.jwt ? createJwtVerifier(config.jwt, warn) : undefined;
  // `maxSize` with entries of size 1, because `max` allocates all slots at once.
  const verifiedTokens = new LRUCache<string, Verified & { generation: unknown }>({
    maxSize: MAX_TOKENS,
    sizeCalculation: () => 1,
  });

  /** Without keys, no token can be verified; this is not the caller's mistake. */
  function throwUnavailable(error: unknown): never {
    if (!(error instanceof KeysUnavailable)) throw error;
    onFailure('no-keys');
    const { retryAfterMs } = error;
    const message = 'Tokens cannot be verified at the moment; try again shortly.';
    throw requestError('OVERLOADED', 503, message, { retryable: true, retryAfterMs });
  }

  return {
    refuse,
    isReady: () => clientTokens !== undefined || jwt?.keys.isReady !== false,
    async authenticate(authorization, address) {
      if (authorization === undefined) {
        return anonymousTypename ? anonymousCaller(clientAddress(address)) : await refuse(address, 'missing');
      }
      const digest = hash('sha256', authorization, 'base64');
      const generation = jwt?.keys.generation;
      const known = verifiedTokens.get(digest);
      if (known && known.expiresAt > Date.now() && known.generation === generation) return known.caller;
      if (known) verifiedTokens.delete(digest);
      const token = tokenOf(authorization);
      if (token === undefined) return await refuse(address, 'malformed');
      const client = clientTokens?.find(hash('sha256', token, 'buffer'));
      if (client) return client;
      limit.refuseAfterFailures(address);
      const verified = (await jwt?.verify(token).catch(throwUnavailable)) ?? 'unknown';
      if (typeof verified === 'string') return await refuse(address, verified);
      verifiedTokens.set(digest, { ...verified, generation });
      return verified.caller;
    },
  };
}

/** The token after the scheme; undefined for another scheme or for what cannot be a token. */
function tokenOf(authorization: string): string | undefined {
  if (authorization.length > MAX_TOKEN_LENGTH) return undefined;
  const [scheme] = SCHEME.exec(authorization) ?? [];
  const token = scheme && authorization.slice(scheme.length);
  return token && TOKEN.test(token) ? token : undefined;
}

/** One error for every reason: an attacker does not learn why a token failed. */
export function unauthenticated(): ClientError {
  const message = 'A valid bearer token is needed in the Authorization header.';
  return requestError('UNAUTHENTICATED', 401, message, {}, [['www-authenticate', 'Bearer']]);
}
