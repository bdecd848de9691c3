/* `npm run token`: prints a token for development. */
import { createHash, randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { SignJWT } from 'jose';
import { MAX_CLIENT_NAME_LENGTH } from '../config/auth.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { ConfigError, reasonOf } from '../config/environment.ts';
import { isScope, SCOPES, type Scope } from '../config/scopes.ts';
import { reveal } from '../config/secret.ts';
import { idProblem } from '../rest/request.ts';

/** A command with invalid arguments. Its message says why, and how the command is used. */
class UsageError extends Error {}

/** The scopes that each kind of client needs; docs/security.md explains them. */
const RECIPES: Partial<Record<string, readonly Scope[]>> = {
  'phone-app': ['players:read', 'players:write', 'coupons:read', 'referrals:read'],
  backend: ['players:read', 'players:write', 'players:delete', 'figures:write', 'events:write', 'any-player'],
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

Scopes: ${SCOPES.join(' ')} events:write:<name>`;

/** The default of JWT_MAX_LIFETIME_S: a day. */
const MAX_MINUTES = 60 * 24;

/** The token that command-line arguments ask for, or the usage. Throws UsageError. */
async function mint(args: readonly string[]): Promise<string> {
  const { help, sub, client, minutes, ...wanted } = read(args);
  if (help) return USAGE.trim();
  const { production, auth } = loadConfig();
  if (production)
    throw new UsageError('Tokens are for development only; this command does not run with NODE_ENV=production.');
  if ((sub === undefined) === (client === undefined)) throw usage('Give either --sub or --client.');
  const scopes = scopesOf(wanted);
  if (sub !== undefined) return await playerToken(sub, scopes, minutes, auth);
  if (minutes !== undefined) throw usage('--minutes is for --sub only; a client token has no end.');
  return clientToken(client ?? '', scopes);
}

/** A JWT of a player. */
async function playerToken(
  sub: string,
  scopes: readonly string[],
  minutes = '60',
  auth: Config['auth'],
): Promise<string> {
  const problem = idProblem(sub);
  if (problem) throw usage(`--sub ${problem.message}.`);
  if (!/^\d{1,6}$/.test(minutes) || Number(minutes) < 1 || Number(minutes) > MAX_MINUTES) {
    throw usage(`--minutes must be a whole number between 1 and ${MAX_MINUTES}.`);
  }
  const jwt = auth.kind === 'tokens' ? auth.jwt : undefined;
  if (jwt?.key.kind !== 'secret') {
    throw usage('Set JWT_SECRET (at least 32 bytes), JWT_ISSUER and JWT_AUDIENCE, the same as for the gateway.');
  }
  return await new SignJWT({ scope: scopes.join(' ') })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuer(jwt.issuer)
    .setAudience(jwt.audience)
    .setSubject(sub)
    .setIssuedAt()
    .setExpirationTime(`${minutes}m`)
    .sign(Buffer.from(reveal(jwt.key.secret)));
}

function read(args: readonly string[]) {
  const text = { type: 'string' } as const;
  try {
    const help = { type: 'boolean', short: 'h' } as const;
    const options = { help, sub: text, client: text, scopes: text, recipe: text, events: text, minutes: text };
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
  const scopes = words.split(/[\s,]+/).filter(Boolean);
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
