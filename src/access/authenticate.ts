import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { AuthConfig } from '../config/auth.ts';
import { ClientError, requestError } from '../errors.ts';
import type { RateLimits } from '../limits/rate-limits.ts';
import { type Caller, OPEN_CALLER, type Rejection, type TokenReason } from './caller.ts';
import { createClientTokens } from './client-tokens.ts';
import { createJwtVerifier, type JwtOptions, type JwtVerifier, type Verified } from './jwt.ts';
import { KeysUnavailable } from './keys.ts';

export interface Authentication {
  /** Returns the caller for an `Authorization` header; throws UNAUTHENTICATED. `address` is for rate limits. */
  authenticate(authorization: string | undefined, address: string): Promise<Caller>;
  /** Counts a failure and throws UNAUTHENTICATED. */
  refuse(address: string, reason: TokenReason): Promise<never>;
  /** False while no token can be verified: there are no client tokens, and no key was available yet. */
  isReady(): boolean;
}

interface AuthenticationOptions extends JwtOptions {
  /**
   * Limits requests without a valid token, by address. Client tokens and JWTs that were verified before are not limited: many
   * users can share an address.
   */
  limit: Pick<RateLimits, 'countFailure' | 'forgiveFailure'>;
  /** Called for each request whose token is not accepted. */
  onFailure(reason: TokenReason): void;
}

/** The authentication that a configuration asks for. */
export function createAuthentication(config: AuthConfig, options: AuthenticationOptions): Authentication {
  const { limit, onFailure, development } = options;
  async function reject(address: string, rejection: Rejection): Promise<never> {
    onFailure(rejection.reason);
    await limit.countFailure(address);
    throw new Unauthenticated(rejection, development);
  }
  const refuse: Authentication['refuse'] = (address, reason) => reject(address, { reason });
  if (config.kind === 'open') return { authenticate: async () => OPEN_CALLER, refuse, isReady: () => true };
  const findClient = config.clientTokens && createClientTokens(config.clientTokens.entries);
  const jwt = config.jwt && createJwtVerifier(config.jwt, options);
  const remembered = new VerifiedTokens();

  /** The verification is charged before it is done, and the charge is returned for a valid token. */
  async function verify({ verify: verifyToken, keys }: JwtVerifier, token: string, address: string): Promise<Caller> {
    await limit.countFailure(address);
    const { generation } = keys;
    const verified = await verifyToken(token).catch((error: unknown) => {
      limit.forgiveFailure(address);
      onFailure('keys');
      throw unavailable(error);
    });
    if ('reason' in verified) {
      onFailure(verified.reason);
      throw new Unauthenticated(verified, development);
    }
    limit.forgiveFailure(address);
    if (generation === keys.generation) remembered.add(token, verified, generation);
    return verified.caller;
  }

  return {
    refuse,
    isReady: () => findClient !== undefined || jwt?.keys.isReady !== false,
    async authenticate(authorization, address) {
      if (authorization === undefined) return await refuse(address, 'missing');
      const token = tokenOf(authorization);
      if (token === undefined) return await refuse(address, 'malformed');
      const known = remembered.find(token, jwt?.keys.generation) ?? findClient?.(hash('sha256', token, 'buffer'));
      if (known) return known;
      return jwt && isCanonical(token) ? await verify(jwt, token, address) : await refuse(address, 'malformed');
    },
  };
}

/** `Bearer`, one space, and the characters of a bearer token (RFC 6750, section 2.1). */
const AUTHORIZATION = /^Bearer ([\w.~+/-]+=*)$/;
/** The longest token, in characters. */
export const MAX_TOKEN_LENGTH = 8_192;

/** The token of a header; undefined for another scheme or for what cannot be a token. */
function tokenOf(authorization: string): string | undefined {
  if (authorization.length > 'Bearer '.length + MAX_TOKEN_LENGTH) return undefined;
  return AUTHORIZATION.exec(authorization)?.[1];
}

/** Whether a text is a JWT in its only spelling: unused bits and padding would give one token many. */
function isCanonical(token: string): boolean {
  const parts = token.split('.');
  return parts.length === 3 && parts.every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}

const MAX_TOKENS = 10_000;
const MAX_TOKENS_PER_CALLER = 4;
const MAX_REMEMBERED_MS = 300_000;

/**
 * Verified tokens. Verifying a signature costs about as much as a small request, so a token is remembered until it expires or
 * the keys change, at most five minutes (docs/decisions/0012-remember-verified-tokens.md).
 */
class VerifiedTokens {
  // `maxSize` with entries of size 1, because `max` allocates all slots at once.
  readonly #tokens = new LRUCache<string, Verified & { generation: unknown }>({
    maxSize: MAX_TOKENS,
    sizeCalculation: () => 1,
  });
  /** The tokens of each caller, so that one caller cannot evict those of others. */
  readonly #ofCaller = new LRUCache<string, string[]>({ maxSize: MAX_TOKENS, sizeCalculation: () => 1 });

  find(token: string, generation: unknown): Caller | undefined {
    const known = this.#tokens.get(token);
    if (!known) return undefined;
    if (known.expiresAt > Date.now() && known.generation === generation) return known.caller;
    this.#tokens.delete(token);
    return undefined;
  }

  add(token: string, { caller, expiresAt }: Verified, generation: unknown): void {
    const end = Math.min(expiresAt, Date.now() + MAX_REMEMBERED_MS);
    const others = (this.#ofCaller.get(caller.key) ?? []).filter((other) => other !== token && this.#tokens.has(other));
    for (const old of others.splice(0, others.length + 1 - MAX_TOKENS_PER_CALLER)) this.#tokens.delete(old);
    this.#ofCaller.set(caller.key, [...others, token]);
    this.#tokens.set(token, { caller, expiresAt: end, generation });
  }
}

/** Without keys, no token can be verified; this is not the caller's mistake. */
function unavailable(error: unknown): unknown {
  if (!(error instanceof KeysUnavailable)) return error;
  const { retryAfterMs } = error;
  const message = 'Tokens cannot be verified at the moment; try again shortly.';
  return requestError('OVERLOADED', 503, message, { retryable: true, retryAfterMs });
}

/** UNAUTHENTICATED: one error for every reason, so that an attacker does not learn why a token failed. The log says it. */
export class Unauthenticated extends ClientError {
  readonly rejection: Rejection;

  /** @param development Whether the client is told the reason too. */
  constructor(rejection: Rejection, development = false) {
    const challenge = rejection.reason === 'missing' ? 'Bearer' : 'Bearer error="invalid_token"';
    const { extensions, message } = requestError(
      'UNAUTHENTICATED',
      401,
      'A valid bearer token is needed in the Authorization header.',
      development ? { ...rejection } : {},
      [['www-authenticate', challenge]],
    );
    super('UNAUTHENTICATED', message, { extensions });
    this.rejection = rejection;
  }
}
