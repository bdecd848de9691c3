import { hash, timingSafeEqual } from 'node:crypto';
import { HeaderMap } from '@apollo/server';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../caller.ts';
import type { AuthConfig } from '../config/auth.ts';
import type { ClientToken } from '../config/credentials.ts';
import { SCOPES } from '../config/scopes.ts';
import { ClientError } from '../errors.ts';
import type { RateLimits } from '../limits/rate-limits.ts';
import { createJwtVerifier, type JwtOptions, type Rejection, type TokenReason, type Verified } from './jwt.ts';

export type Authentication = ReturnType<typeof createAuthentication>;

interface AuthenticationOptions extends JwtOptions {
  /** Counts requests without a valid token by address. Many users can share an address. */
  rates: Pick<RateLimits, 'failureOf'>;
  /** Called for each request whose token is not accepted. */
  onFailure(reason: TokenReason): void;
}

/** How many verified tokens are remembered, of how many characters together, and for how long, in milliseconds. */
const MAX_REMEMBERED = 10_000;
const MAX_REMEMBERED_CHARACTERS = 16_777_216;
const MAX_REMEMBERED_MS = 300_000;

/** In an open gateway, in development, every caller has all scopes, as the demo player. */
const OPEN_CALLER: Caller = {
  name: 'development',
  key: 'player:demo-player',
  playerUniqueId: 'demo-player',
  scopes: new Set(SCOPES),
  isServer: true,
};

export function createAuthentication(config: AuthConfig, options: AuthenticationOptions) {
  if (config.kind === 'open') return { authenticate: () => OPEN_CALLER, isReady: () => true, keySetAge: undefined };
  const { rates, onFailure, development } = options;
  const findClient = config.clientTokens && clientFinder(config.clientTokens);
  const jwt = config.jwt && createJwtVerifier(config.jwt, options);
  /** By token, because verifying one costs as much as a small request: docs/decisions/0012-remember-verified-tokens.md. */
  const remembered = new LRUCache<string, Verified>({ max: MAX_REMEMBERED, maxSize: MAX_REMEMBERED_CHARACTERS });
  const find = (token: string): Caller | undefined => {
    const known = remembered.get(token);
    const isValid = known && known.expiresAt > Date.now() && (jwt?.keySet?.isCurrent(known.verifiedAt) ?? true);
    return isValid ? known.caller : findClient?.(token);
  };

  async function reject(rejection: Rejection, count: () => Promise<void>): Promise<never> {
    onFailure(rejection.reason);
    await count();
    throw new Unauthenticated(rejection, development);
  }

  async function verify(authorization: string | undefined, token: string | undefined, address: string) {
    const failure = rates.failureOf(address);
    if (!jwt || token === undefined) {
      return reject({ reason: authorization === undefined ? 'missing' : 'malformed' }, failure.count);
    }
    await failure.countFirst();
    const verified = await jwt.verify(token).catch((unavailable: unknown) => {
      failure.forgive();
      onFailure('keys');
      throw unavailable;
    });
    if ('reason' in verified) return reject(verified, failure.confirm);
    failure.forgive();
    const expiresAt = Math.min(verified.expiresAt, Date.now() + MAX_REMEMBERED_MS);
    remembered.set(token, { ...verified, expiresAt }, { size: token.length });
    return verified.caller;
  }

  return {
    /** False while JWTs are configured and there never was a key to verify them. */
    isReady: () => jwt?.keySet?.isReady() ?? true,
    /** Milliseconds since the key set was fetched, or since the start; undefined without JWT_JWKS_URL. */
    keySetAge: jwt?.keySet?.age,
    /** The caller for an `Authorization` header; a promise only if a token must be verified. Rejects with UNAUTHENTICATED. */
    authenticate(authorization: string | undefined, address: string): Caller | Promise<Caller> {
      const token = tokenOf(authorization);
      return (token && find(token)) || verify(authorization, token, address);
    },
  };
}

/** Finds the client of a token, unless it has expired. Constant time over all entries. */
function clientFinder(entries: readonly ClientToken[]): (token: string) => Caller | undefined {
  const clients = entries.map(({ name, sha256, scopes, expiresAt }) => ({
    digest: Buffer.from(sha256, 'hex'),
    caller: { name, key: `client:${name}`, scopes: new Set(scopes), isServer: scopes.includes('any-player') },
    expiresAt: expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt),
  }));
  return (token) => {
    const digest = hash('sha256', token, 'buffer');
    const [found] = clients.filter((client) => timingSafeEqual(client.digest, digest));
    return found && TOKEN.test(token) && found.expiresAt > Date.now() ? found.caller : undefined;
  };
}

/** The longest token, in characters. */
export const MAX_TOKEN_LENGTH = 8_192;
/** The characters of a bearer token (RFC 6750, section 2.1). */
const TOKEN = /^[\w.~+/-]+=*$/;

/** What follows `Bearer`, in any case, and spaces; undefined for another scheme, or a token that is too long. */
function tokenOf(authorization = ''): string | undefined {
  const [, token] = /^bearer +(.*)$/i.exec(authorization) ?? [];
  return token !== undefined && token.length <= MAX_TOKEN_LENGTH ? token : undefined;
}

/** One error for every reason, so that an attacker does not learn why a token failed. The log says it. */
export class Unauthenticated extends ClientError {
  readonly rejection: Rejection;

  /** @param development Whether the client is told the reason too. */
  constructor(rejection: Rejection, development: boolean) {
    const challenge = rejection.reason === 'missing' ? 'Bearer' : 'Bearer error="invalid_token"';
    const http = { status: 401, headers: new HeaderMap([['www-authenticate', challenge]]) };
    const message = 'A valid bearer token is needed in the Authorization header.';
    super('UNAUTHENTICATED', message, { extensions: { ...(development && rejection), http } });
    this.rejection = rejection;
  }
}
