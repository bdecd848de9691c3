/* Callers of every kind, and a gateway that knows them all. */
import { SCOPES, type Scope } from '../../src/config/scopes.ts';
import { newFile } from './at-end.ts';
import { startBoth } from './gateway.ts';
import { bearer, secretSigner, sha256, token, UNLIMITED } from './tokens.ts';
import type { UpstreamOptions } from './upstream.ts';

/** Signs the tokens of the players of this file. */
export const signer = secretSigner();

/** Without `sub`, it has a client token. */
const caller = (name: string, scopes: readonly Scope[], text: string, sub?: string) => ({
  name: `${name} with ${scopes.join(' ') || 'no scope'}`,
  ...{ scopes: new Set(scopes), sub, ...bearer(text) },
});
export type TestCaller = ReturnType<typeof caller> | typeof NOBODY;

export const player = (sub: string, ...scopes: Scope[]) =>
  caller(sub, scopes, token(signer, { sub, scope: scopes.join(' ') }), sub);

const clientToken = (scopes: readonly Scope[]) =>
  `client-token-for-tests/${scopes.join('.') || 'none'}`.replaceAll(':', '-');

/** A client that is no player. Its scopes must be among `CLIENT_SCOPES`. */
export const client = (...scopes: Scope[]) => caller('a client', scopes, clientToken(scopes));

export const NOBODY = { name: 'nobody', scopes: new Set<Scope>(), sub: undefined, authorization: undefined };

/** Every scope that says what; `any-player` says whom. */
export const WHAT = SCOPES.filter((scope) => scope !== 'any-player');

/** None, all and each of them, with and without `any-player`. */
export const CLIENT_SCOPES = [WHAT, [], ...WHAT.map((scope) => [scope])].flatMap((scopes): Scope[][] => [
  [...scopes, 'any-player'],
  scopes,
]);

/** A gateway in front of a scripted upstream, to which every caller of this file is known. */
export async function startWithCallers(env: Record<string, string> = {}, options?: UpstreamOptions) {
  const entries = CLIENT_SCOPES.map((scopes) => {
    const text = clientToken(scopes);
    return { name: text.slice(-100), sha256: sha256(text), scopes };
  });
  const settings = { ...signer.env, ...UNLIMITED, CLIENT_TOKENS_FILE: newFile('clients.json', entries), ...env };
  const both = await startBoth(settings, options);
  return {
    ...both,
    /** Sends an operation as a caller. */
    as: ({ authorization }: TestCaller, query: string, variables?: Record<string, unknown>) =>
      both.gateway.query(query, variables, authorization === undefined ? {} : { authorization }),
  };
}
