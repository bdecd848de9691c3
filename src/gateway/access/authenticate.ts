import { hash } from 'node:crypto';
import { HeaderMap } from '@apollo/server';
import type { AuthConfig } from '../../config/auth.ts';
import type { Maybe } from '../../rest/maybe.ts';
import { ClientError } from '../graphql/errors.ts';
import { type Caller, OPEN_CALLER } from './caller.ts';
import { type ClientTokens, readClientTokens } from './client-tokens.ts';
import { createJwtVerifier, type VerifyJwt } from './jwt.ts';
import { createRemembered } from './verified-tokens.ts';

/** Tells who is asking by the value of the `Authorization` header; throws UNAUTHENTICATED for anybody else. */
export type Authenticate = (authorization: string | undefined) => Maybe<Caller>;

const SCHEME = /^Bearer +/i;

/** The characters of a bearer token (RFC 6750, section 2.1), and more of them than any honest token has. */
const TOKEN = /^[\w.~+/-]+=*$/;
const MAX_TOKEN_LENGTH = 8_192;

/** Builds the authentication a configuration asks for. Throws when a file of tokens or keys cannot be read. */
export function createAuthenticate(config: AuthConfig, warn: (message: string) => void): Authenticate {
  if (config.kind === 'open') return () => OPEN_CALLER;
  const clientTokens = config.clientTokensFile ? readClientTokens(config.clientTokensFile, warn) : undefined;
  const verifyJwt = config.jwt ? createJwtVerifier(config.jwt, warn) : undefined;
  return createTokenAuthenticate(clientTokens, verifyJwt);
}

function createTokenAuthenticate(
  clientTokens: ClientTokens | undefined,
  verifyJwt: VerifyJwt | undefined,
): Authenticate {
  const remembered = createRemembered();
  return (authorization) => {
    const token = tokenOf(authorization);
    if (!token || token.length > MAX_TOKEN_LENGTH) throw unauthenticated();
    const digest = hash('sha256', token, 'base64');
    const known = verifyJwt && remembered.get(digest, verifyJwt.generation());
    if (known) return known;
    if (!TOKEN.test(token)) throw unauthenticated();
    const client = clientTokens?.find(Buffer.from(digest, 'base64'));
    if (client) return client;
    if (!verifyJwt) throw unauthenticated();
    return verify(verifyJwt, token, digest);
  };

  async function verify(verifyJwt: VerifyJwt, token: string, digest: string): Promise<Caller> {
    const generation = verifyJwt.generation();
    const verified = await verifyJwt.verify(token);
    if (!verified) throw unauthenticated();
    remembered.set(digest, generation, verified);
    return verified.caller;
  }
}

/** What stands behind the scheme; undefined when that is another one. */
function tokenOf(authorization = ''): string | undefined {
  const [scheme] = SCHEME.exec(authorization) ?? [];
  return scheme && authorization.slice(scheme.length);
}

/** One error for every reason: who forges a token learns nothing about why it failed. */
export function unauthenticated(): ClientError {
  return new ClientError('UNAUTHENTICATED', 'A valid bearer token is needed in the Authorization header.', {
    extensions: { http: { status: 401, headers: new HeaderMap([['www-authenticate', 'Bearer']]) } },
  });
}
