/* `npm run token`: prints a JWT for development or a client token, or checks a JWT. */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isatty } from 'node:tty';
import { parseArgs } from 'node:util';
import { decodeProtectedHeader, SignJWT } from 'jose';
import { MAX_TOKEN_LENGTH } from '../../src/access/authenticate.ts';
import { checksOf, mapScope, readToken, rejectionOf, scopeNames } from '../../src/access/jwt.ts';
import { createTokenKeys, isClaimError } from '../../src/access/token-keys.ts';
import type { AuthConfig, JwtConfig } from '../../src/config/auth.ts';
import { type EgressProxy, loadConfig } from '../../src/config/config.ts';
import { type Claim, MAX_CLIENT_NAME_LENGTH } from '../../src/config/credentials.ts';
import { ConfigError } from '../../src/config/environment.ts';
import { isScope, namesIn, SCOPES, type Scope } from '../../src/config/scopes.ts';
import { ClientError, reasonOf } from '../../src/errors.ts';
import { idProblem } from '../../src/player-id.ts';

/** A command with invalid arguments. Its message says why, and how the command is used. */
class UsageError extends Error {}

/** The scopes that each kind of client needs; docs/security.md explains them. */
const RECIPES: Partial<Record<string, readonly Scope[]>> = {
  'phone-app': ['players:read', 'players:write', 'coupons:read', 'referrals:read'],
  backend: [
    ...(['players:read', 'players:write', 'players:delete', 'contacts:write'] as const),
    ...(['figures:write', 'events:write', 'any-player'] as const),
  ],
  support: ['players:read', 'coupons:read', 'referrals:read', 'contacts:read', 'any-player'],
  analytics: ['players:read', 'referrals:read', 'any-player'],
};

const USAGE = `
  npm run token -- --sub alice --scopes "players:read coupons:read" [--minutes 60]
      a token of the player alice, signed with JWT_SECRET for JWT_ISSUER and JWT_AUDIENCE
  npm run token -- --client shop --scopes "players:read any-player"
      a new client token, and its entry for the JSON list in CLIENT_TOKENS_FILE
  npm run token -- --sub alice --recipe phone-app [--events "open_app,share_link"]
      the scopes of a recipe in place of --scopes: ${Object.keys(RECIPES).join(', ')}
  npm run token -- --sub alice --recipe phone-app --expired
      a token that has expired, to see how a client renews it
  npm run token -- --check < token.txt
      checks a token as the gateway with these settings does, and prints each check

Scopes: ${SCOPES.join(' ')} events:write:<name>`;

/** The default of JWT_MAX_LIFETIME_S: a day. */
const MAX_MINUTES = 60 * 24;
/** The minutes of a token that has expired, beyond the leeway between clocks. */
const EXPIRED = '-5';

/** The token that command-line arguments ask for, or the usage. Throws UsageError. */
async function mint(args: readonly string[]): Promise<string> {
  const { help, check, sub, client, minutes, expired, ...wanted } = read(args);
  if (help) return USAGE.trim();
  const { production, auth, rest } = loadConfig();
  if (check) return await checkToken(auth, rest.proxy);
  if (production)
    throw new UsageError('Not with NODE_ENV=production: run this command on your own machine, without that setting.');
  if ((sub === undefined) === (client === undefined)) throw usage('Give either --sub or --client.');
  const scopes = scopesOf(wanted);
  if (sub !== undefined) return await playerToken(sub, scopes, expired ? EXPIRED : (minutes ?? '60'), auth);
  if (minutes !== undefined || expired) throw usage('--minutes and --expired are for --sub only.');
  return clientToken(client ?? '', scopes);
}

/** A JWT of a player. */
async function playerToken(sub: string, scopes: readonly string[], minutes: string, auth: AuthConfig): Promise<string> {
  const problem = idProblem(sub);
  if (problem) throw usage(`--sub ${problem.message}.`);
  if (minutes !== EXPIRED && !(/^\d{1,6}$/.test(minutes) && +minutes >= 1 && +minutes <= MAX_MINUTES)) {
    throw usage(`--minutes must be a whole number between 1 and ${MAX_MINUTES}.`);
  }
  const jwt = auth.kind === 'tokens' ? auth.jwt : undefined;
  if (jwt?.key.kind !== 'secret') {
    throw usage('Set JWT_SECRET (at least 32 bytes), JWT_ISSUER and JWT_AUDIENCE, the same as for the gateway.');
  }
  const now = Math.floor(Date.now() / 1_000);
  const exp = now + Number(minutes) * 60;
  return await new SignJWT({ ...claimsOf(sub, scopes, jwt), iat: Math.min(now, exp - 60), exp })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .sign(jwt.key.key);
}

/** The claims of a player's token, each where the settings look for it. */
function claimsOf(sub: string, scopes: readonly string[], config: JwtConfig): Record<string, unknown> {
  const claims: Record<string, unknown> = { iss: config.JWT_ISSUER[0], sub };
  const [scopeClaim] = config.JWT_SCOPE_CLAIM;
  if (scopeClaim) put(claims, scopeClaim.path, scopes.map((scope) => nameFor(scope, config)).join(' '));
  put(claims, config.JWT_AUDIENCE_CLAIM.path, config.JWT_AUDIENCE[0]);
  for (const { claim, value } of config.JWT_REQUIRE) put(claims, claim.path, value);
  put(claims, config.JWT_PLAYER_CLAIM.path, sub);
  return claims;
}

function nameFor(scope: string, { JWT_SCOPE_MAP: map }: JwtConfig): string {
  if (!map) return scope;
  const [name] = [...map].find(([, scopes]) => scopes.every((one) => one === scope) && scopes.length > 0) ?? [];
  if (name === undefined) throw usage(`JWT_SCOPE_MAP has no name for "${scope}" alone.`);
  return name;
}

function put(claims: Record<string, unknown>, [step = '', ...rest]: Claim['path'], value: unknown): void {
  const inner: Record<string, unknown> = { ...Object(claims[step]) };
  if (rest.length > 0) put(inner, rest, value);
  claims[step] = rest.length > 0 ? inner : value;
}

/** A line for each check of the token on stdin, up to the first claim that jose rejects. */
async function checkToken(auth: AuthConfig, proxy: EgressProxy | undefined): Promise<string> {
  const jwt = auth.kind === 'tokens' ? auth.jwt : undefined;
  if (!jwt) throw usage('Set the JWT settings of the gateway.');
  if (isatty(0)) console.error('Paste the token, then press Enter and Ctrl+D.');
  // The last line: `npm run` prints others first.
  const [line = ''] = readFileSync(0, 'utf8').trim().split('\n').slice(-1);
  const token = line.replace(/^Bearer +/i, '');
  if (token === '') throw usage('Give the token on stdin.');
  const lines: string[] = [];
  const add = (ok: boolean, reason: string, about: string) => {
    lines.push(`${ok ? 'ok  ' : 'FAIL'}  ${reason.padEnd(9)}  ${about}`.trimEnd());
    if (!ok) process.exitCode = 1;
  };
  const keys = createTokenKeys(jwt.key, { log: { info() {}, warn: console.error }, proxy });
  const addKey = () => {
    const { alg, kid } = decodeProtectedHeader(token);
    add(true, 'key', `${alg}, key id ${JSON.stringify(kid) ?? 'absent'}`);
    add(true, 'signature', '');
  };
  try {
    if (token.length > MAX_TOKEN_LENGTH) add(false, 'malformed', `longer than ${MAX_TOKEN_LENGTH} characters`);
    const { header, claims } = await readToken(token, keys, jwt);
    addKey();
    for (const { ok, rejection } of checksOf(claims, header, jwt)) {
      const { reason, claim, expected, found } = rejection;
      add(ok, reason, `${claim}: ${found}${ok ? '' : `; expected ${expected}`}`);
    }
    for (const name of scopeNames(claims, jwt) ?? []) {
      const mapped = mapScope(name, jwt);
      const kind = mapped.length === 0 ? 'unknown' : jwt.JWT_SCOPE_MAP ? 'mapped ' : 'known  ';
      lines.push(`      ${kind} ${name} ${jwt.JWT_SCOPE_MAP ? mapped.join(' ') : ''}`.trimEnd());
    }
  } catch (error) {
    if (error instanceof ClientError) add(false, 'key', 'no key is available');
    else {
      if (isClaimError(error)) addKey();
      const { reason, claim, expected, found } = rejectionOf(error, token, keys, jwt);
      if (claim === 'kid')
        add(false, 'key', `no key of the key set fits the token: kid ${found}; expected ${expected}`);
      else add(false, reason, claim ? `${claim}: ${found}; expected ${expected}` : '');
    }
  }
  return lines.join('\n');
}

function read(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const texts = { sub: text, client: text, scopes: text, recipe: text, events: text, minutes: text };
  try {
    const options = { ...texts, check: flag, expired: flag, help: { ...flag, short: 'h' } };
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw usage(`${reasonOf(error)}.`);
  }
}

function scopesOf({ scopes, recipe, events }: { scopes?: string; recipe?: string; events?: string }): string[] {
  if (recipe === undefined && events !== undefined) throw usage('--events is for --recipe only.');
  if ((recipe === undefined) === (scopes === undefined)) throw usage('Give either --scopes or --recipe.');
  return recipe === undefined ? readScopes(scopes ?? '') : readRecipe(recipe, events);
}

function readRecipe(recipe: string, events = ''): string[] {
  const scopes = RECIPES[recipe];
  if (!scopes) throw usage(`There is no recipe "${recipe}".`);
  const names = events.split(',').filter((name) => name.trim() !== '');
  return [...scopes, ...names.map((name) => `events:write:${encodeURIComponent(name.trim())}`)];
}

function readScopes(words: string): string[] {
  const scopes = namesIn(words);
  const unknown = scopes.find((scope) => !isScope(scope));
  if (unknown !== undefined) throw usage(`There is no scope "${unknown}".`);
  return scopes;
}

/** A random token. The file holds only its SHA-256, so the token is shown once. */
function clientToken(name: string, scopes: readonly string[]): string {
  if (name === '' || name.length > MAX_CLIENT_NAME_LENGTH) {
    throw usage(`--client must have 1 to ${MAX_CLIENT_NAME_LENGTH} characters.`);
  }
  const token = randomBytes(32).toString('base64url');
  const sha256 = createHash('sha256').update(token).digest('hex');
  return `${token}\n${JSON.stringify({ name, sha256, scopes })}`;
}

function usage(problem: string): UsageError {
  return new UsageError(`${problem}\n${USAGE}`);
}

try {
  process.stdout.write(`${await mint(process.argv.slice(2))}\n`);
} catch (error) {
  console.error(error instanceof UsageError || error instanceof ConfigError ? error.message : error);
  process.exitCode = 1;
}
