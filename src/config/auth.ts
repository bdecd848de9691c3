import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { type Claim, readClaim } from './claims.ts';
import { reasonOf } from './environment.ts';
import { readPublicKey, readSharedSecret } from './jwt-keys.ts';
import { isScope, type Scope } from './scopes.ts';
import { reveal, type Secret } from './secret.ts';
import type { Settings } from './settings.ts';

/** The key that verifies JWTs: exactly one of these kinds. */
export type JwtKey =
  | { kind: 'jwks'; url: URL }
  | { kind: 'public-key'; pem: Secret }
  | { kind: 'secret'; secret: Secret };

export interface JwtConfig {
  key: JwtKey;
  /** One of them must be the claim `iss`, exactly. */
  issuers: readonly string[];
  /** One of them must be in `audienceClaim`, exactly. */
  audiences: readonly string[];
  audienceClaim: Claim;
  /** The claim with the player's identifier. A token without it belongs to a client that is no player. */
  playerClaim: Claim;
  /** The first of them that a token has decides alone about its scopes. */
  scopeClaims: readonly Claim[];
  /** The scopes of each name in a token. When present, other names allow nothing. */
  scopeMap: ReadonlyMap<string, readonly Scope[]> | undefined;
  /** The scopes of a token that has none of `scopeClaims`. */
  defaultScopes: readonly Scope[];
  /** Claims that must have exactly this value. */
  require: readonly { claim: Claim; value: string }[];
  /** The longest lifetime that is accepted, in seconds; 0 accepts any. */
  maxLifetimeSeconds: number;
  /** A value of the header `typ` that is accepted beside `JWT` and `at+jwt`. */
  type: string | undefined;
}

/** How callers are authenticated. An open gateway gives every caller all scopes, as the demo player. */
export type AuthConfig =
  | { kind: 'open' }
  | {
      kind: 'tokens';
      jwt: JwtConfig | undefined;
      clientTokens: { file: string; entries: readonly ClientToken[] } | undefined;
    };

/** Reads how callers are authenticated. Adds one line to `problems` for each setting that cannot be used. */
export function readAuth(settings: Settings['auth'], problems: string[]): AuthConfig {
  const key = readKey(settings, problems);
  const { issuers, audiences, clientTokensFile: file } = settings;
  if (!key && (issuers.length > 0 || audiences.length > 0)) {
    problems.push('JWT_JWKS_URL, JWT_PUBLIC_KEY or JWT_SECRET: one is needed with JWT_ISSUER and JWT_AUDIENCE');
  }
  const entries = file && attempt('CLIENT_TOKENS_FILE', () => readTokensFile(file), problems);
  const jwt = key && readJwt(key, settings, problems);
  const clientTokens = file && entries ? { file, entries } : undefined;
  return key || file ? { kind: 'tokens', jwt, clientTokens } : { kind: 'open' };
}

function readJwt(key: JwtKey, settings: Settings['auth'], problems: string[]): JwtConfig | undefined {
  const { issuers, audiences, maxLifetimeSeconds, type } = settings;
  const read = <Value>(name: string, reader: () => Value) => attempt(name, reader, problems);
  if (issuers.length === 0) problems.push('JWT_ISSUER: is needed with a JWT key; it is what the claim "iss" must say');
  if (audiences.length === 0) {
    problems.push('JWT_AUDIENCE: is needed with a JWT key; it is what the audience of a token must hold');
  }
  const audienceClaim = read('JWT_AUDIENCE_CLAIM', () => readClaim(settings.audienceClaim));
  const playerClaim = read('JWT_PLAYER_CLAIM', () => readClaim(settings.playerClaim));
  const scopeClaims = read('JWT_SCOPE_CLAIM', () => notEmpty(settings.scopeClaims).map(readClaim));
  const { scopeMap: map } = settings;
  const scopeMap = map && read('JWT_SCOPE_MAP', () => readScopeMap(reveal(map)));
  const defaultScopes = read('JWT_DEFAULT_SCOPES', () => settings.defaultScopes.map(readDefaultScope));
  const require = read('JWT_REQUIRE', () => settings.require.map(readRequirement));
  if (audienceClaim && audienceClaim.name !== 'aud' && require?.length === 0) {
    problems.push(
      `JWT_REQUIRE: is needed when JWT_AUDIENCE_CLAIM is ${audienceClaim.name}, for example token_use=access; without it ID tokens of the same application are accepted`,
    );
  }
  if (!audienceClaim || !playerClaim || !scopeClaims || !defaultScopes || !require) return undefined;
  return {
    ...{ key, issuers, audiences, audienceClaim, playerClaim, scopeClaims, scopeMap, defaultScopes, require },
    ...{ maxLifetimeSeconds, type },
  };
}

function notEmpty(names: readonly string[]): readonly string[] {
  if (names.length === 0) throw new Error('must name a claim');
  return names;
}

function readScope(text: string): Scope {
  if (!isScope(text)) throw new Error(`"${text}" is no scope of this gateway`);
  return text;
}

/** Scopes that a token must ask for by itself. */
const NEVER_BY_DEFAULT: readonly Scope[] = [
  'any-player',
  'figures:write',
  'players:delete',
  'contacts:read',
  'events:write',
];

function readDefaultScope(text: string): Scope {
  const scope = readScope(text);
  if (NEVER_BY_DEFAULT.includes(scope)) throw new Error(`"${scope}" must not be given to every token`);
  return scope;
}

function readRequirement(text: string): JwtConfig['require'][number] {
  const [, name = '', value = ''] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (name === '') throw new Error(`"${text}" must be a claim and its value, such as token_use=access`);
  return { claim: readClaim(name.trim()), value: value.trim() };
}

const SCOPE_MAP = z.record(z.string(), z.array(z.string()));

function readScopeMap(text: string): ReadonlyMap<string, readonly Scope[]> {
  const parsed = SCOPE_MAP.safeParse(parseJson(text, 'must be JSON'));
  if (!parsed.success) throw new Error('must be a JSON object: names in the token, and the list of scopes of each');
  return new Map(Object.entries(parsed.data).map(([name, scopes]) => [name, scopes.map(readScope)]));
}

function readKey({ jwksUrl, publicKey: pem, secret }: Settings['auth'], problems: string[]): JwtKey | undefined {
  const keys: JwtKey[] = [];
  if (jwksUrl) keys.push({ kind: 'jwks', url: jwksUrl });
  if (pem) {
    keys.push({ kind: 'public-key', pem });
    attempt('JWT_PUBLIC_KEY', () => readPublicKey(reveal(pem)), problems);
  }
  if (secret) {
    keys.push({ kind: 'secret', secret });
    attempt('JWT_SECRET', () => readSharedSecret(reveal(secret)), problems);
  }
  if (keys.length > 1) problems.push('JWT_JWKS_URL, JWT_PUBLIC_KEY, JWT_SECRET: set exactly one of them');
  return keys[0];
}

function attempt<Value>(name: string, read: () => Value, problems: string[]): Value | undefined {
  try {
    return read();
  } catch (error) {
    problems.push(`${name}: ${reasonOf(error)}`);
    return undefined;
  }
}

/**
 * How a developer gets a token for this gateway, in a sentence with the command. Undefined for an open gateway, which needs
 * none.
 */
export function tokenHint(auth: AuthConfig): string | undefined {
  if (auth.kind === 'open') return undefined;
  if (auth.jwt?.key.kind === 'secret') {
    return 'With the same JWT_SECRET, JWT_ISSUER and JWT_AUDIENCE, `npm run token -- --sub demo-player --recipe phone-app` prints a token of the demo player.';
  }
  const issuer = auth.jwt && `Tokens are issued by ${auth.jwt.issuers.join(', ')}.`;
  const client =
    auth.clientTokens &&
    `\`npm run token -- --client my-tool --recipe support\` prints a token and its entry for ${auth.clientTokens.file}.`;
  return [issuer, client].filter(Boolean).join(' ');
}

/** The longest name of a client, in characters. */
export const MAX_CLIENT_NAME_LENGTH = 100;

const TOKENS_FILE = z
  .array(
    z.strictObject({
      name: z.string().min(1).max(MAX_CLIENT_NAME_LENGTH),
      sha256: z.string().regex(/^[0-9a-f]{64}$/i, 'must be a SHA-256 in hexadecimal: 64 digits'),
      scopes: z.array(
        z.custom<Scope>((text) => typeof text === 'string' && isScope(text), 'is no scope of this gateway'),
      ),
      expiresAt: z.iso.datetime({ offset: true }).optional(),
    }),
  )
  .refine((entries) => unique(entries.map(({ name }) => name)), 'no two clients may have the same name')
  .refine(
    (entries) => unique(entries.map(({ sha256 }) => sha256.toLowerCase())),
    'no two clients may have the same token',
  );

/** A client that is no player, and the SHA-256 of its token. */
export type ClientToken = z.output<typeof TOKENS_FILE>[number];

/** Throws for a file that cannot be used. */
function readTokensFile(path: string): ClientToken[] {
  const parsed = TOKENS_FILE.safeParse(readJson(path));
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path: at, message }) => `${at.join('.') || 'the list'}: ${message}`);
  throw new Error(`the file ${path} cannot be used (${issues.join('; ')})`);
}

function readJson(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error(`the file cannot be read (${reasonOf(error)})`);
  }
  return parseJson(text, `the file ${path} is not valid JSON`);
}

function parseJson(text: string, problem: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(problem);
  }
}

function unique(texts: readonly string[]): boolean {
  return new Set(texts).size === texts.length;
}
