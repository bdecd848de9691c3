import { decodeProtectedHeader, errors } from 'jose';
import type { Caller } from '../caller.ts';
import type { JwtConfig } from '../config/auth.ts';
import type { Claim } from '../config/credentials.ts';
import { isScope, namesIn, type Scope } from '../config/scopes.ts';
import { ClientError } from '../errors.ts';
import { isJson } from '../json.ts';
import { idProblem } from '../player-id.ts';
import type { KeySetOptions } from './key-set.ts';
import { createTokenKeys, isClaimError, type TokenKeys } from './token-keys.ts';

/** A caller whose token was verified, until when that holds (`Date.now()`), and when the verification began (`performance.now()`). */
export interface Verified {
  caller: Caller;
  expiresAt: number;
  verifiedAt: number;
}

/** Why a request is not authenticated. With `keys` there is no key to verify with. */
export type TokenReason =
  | ('missing' | 'malformed' | 'signature' | 'keys')
  | ('issuer' | 'audience' | 'type' | 'expired' | 'lifetime' | 'require' | 'player' | 'scopes');

/** A rejected token, for the log: never the token or a player's id. */
export interface Rejection {
  reason: TokenReason;
  /** The claim, or the header parameter, that is not accepted. */
  claim?: string;
  expected?: string;
  /** What the token has there. */
  found?: string;
}

export interface JwtOptions extends KeySetOptions {
  /** The name for the log of a player or client. */
  nameOf(id: string): string;
  /** Whether errors say why a token has no scopes. */
  development: boolean;
}

/** Verifies JWTs with one configured key: the caller of a token, or why it is rejected. Throws only OVERLOADED. */
export function createJwtVerifier(config: JwtConfig, { nameOf, development, ...options }: JwtOptions) {
  const keys = createTokenKeys(config.key, options);
  const verify = async (token: string): Promise<Verified | Rejection> => {
    const verifiedAt = performance.now();
    try {
      const { header, claims } = await readToken(token, keys, config);
      const failed = checksOf(claims, header, config).find(({ ok }) => !ok);
      if (failed) return failed.rejection;
      const identity = identityOf(claims, config) ?? { key: '' };
      const scopes = new Set(scopesOf(claims, config));
      const isBare = scopes.size === 0 && !scopeClaim(claims, config);
      const hint = development && isBare ? missingScopes(claims, config) : undefined;
      const name = nameOf(identity.playerUniqueId ?? identity.key);
      const caller = { name, ...identity, scopes, isServer: scopes.has('any-player'), hint };
      return { caller, expiresAt: (Number(claims['exp']) + LEEWAY_SECONDS) * 1_000, verifiedAt };
    } catch (error) {
      return rejectionOf(error, token, keys, config);
    }
  };
  return { keySet: keys.set, verify };
}

type Claims = Readonly<Record<string, unknown>>;

/** Whatever a verification throws rejects the token, except that its key may be missing. */
export function rejectionOf(error: unknown, token: string, keys: TokenKeys, { JWT_ISSUER }: JwtConfig): Rejection {
  if (error instanceof ClientError) throw error;
  if (error instanceof errors.JWKSNoMatchingKey) {
    const found = shown(decodeProtectedHeader(token).kid, false);
    return { reason: 'signature', claim: 'kid', expected: `${keys.set?.ids()}`, found };
  }
  if (isClaimError(error)) {
    const { claim, payload } = error;
    const reason = error instanceof errors.JWTExpired ? 'expired' : claim === 'iss' ? 'issuer' : 'lifetime';
    const present = Math.floor(Date.now() / 1_000);
    const time = claim === 'exp' ? `more than ${present - LEEWAY_SECONDS}` : `at most ${present + LEEWAY_SECONDS}`;
    const expected = claim === 'iss' ? JWT_ISSUER.join(', ') : time;
    return { reason, claim, expected, found: shown(payload[claim], payload[claim] === payload.sub) };
  }
  const kinds = [errors.JWSInvalid, errors.JWTInvalid, errors.JOSENotSupported, SyntaxError];
  return { reason: kinds.some((kind) => error instanceof kind) ? 'malformed' : 'signature' };
}

/** Header and claims of a token that jose accepts. Unused bits and padding would give one token many spellings. */
export async function readToken(token: string, keys: TokenKeys, config: JwtConfig) {
  const isCanonical = (part: string) => Buffer.from(part, 'base64url').toString('base64url') === part;
  if (!token.split('.').every(isCanonical)) throw new SyntaxError();
  const { payload: claims, protectedHeader: header } = await keys.verify(token, {
    issuer: [...config.JWT_ISSUER],
    requiredClaims: ['exp'],
    clockTolerance: LEEWAY_SECONDS,
    currentDate: new Date(Date.now()),
  });
  if (REJECTED_PARAMETERS.some((name) => name in header)) throw new SyntaxError();
  return { header, claims };
}

/** The value of a claim; undefined when it is absent. Only own properties of objects count, at every step. */
function claimValue(claims: unknown, { path }: Claim): unknown {
  let value = claims;
  for (const step of path) value = isJson(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return value;
}

/** The largest allowed difference between clocks, in seconds. */
export const LEEWAY_SECONDS = 60;
/** Header parameters that carry a key or change the verification, which a token must not have. */
const REJECTED_PARAMETERS = ['crit', 'b64', 'jku', 'jwk', 'x5u', 'x5c'];
/** Values of `typ` that a token may have, in lower case (RFC 7519, section 5.1; RFC 9068, section 2.1). */
const TYPES = ['jwt', 'application/jwt', 'at+jwt', 'application/at+jwt'];

const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value);

/**
 * What jose does not check: the audience can be in any claim, several types are accepted, and a token must not live long.
 * jose's `maxTokenAge` refuses an old token, not one that lives for years, and needs `iat`, which is optional.
 */
export function checksOf(claims: Claims, header: Claims, config: JwtConfig) {
  const { JWT_AUDIENCE: audiences, JWT_MAX_LIFETIME_S: longest, JWT_TYP: type } = config;
  const { JWT_PLAYER_CLAIM: player, JWT_AUDIENCE_CLAIM: audienceClaim } = config;
  const { exp, iat } = claims;
  const types = [...TYPES, ...(type === undefined ? [] : [type.toLowerCase()])];
  const { typ = 'JWT' } = header;
  const audience = claimValue(claims, audienceClaim);
  const isForUs = audiences.some((one) => [audience].flat().includes(one));
  const now = Math.floor(Date.now() / 1_000);
  // jose has checked that both are numbers, which can be infinite.
  const lifetime = Number(exp) - Number(iat ?? now);
  const isShort = Number.isFinite(lifetime) && (longest === 0 || lifetime <= longest);
  const scopes = scopeClaim(claims, config) ?? { name: 'scope', path: ['scope'] };
  const check = (reason: TokenReason, claim: string, value: unknown, ok: boolean, expected: string) => {
    const isPersonal = claim === player.name || value === claims['sub'];
    return { ok, rejection: { reason, claim, expected, found: shown(value, isPersonal) } };
  };
  return [
    check('audience', audienceClaim.name, audience, isForUs, audiences.join(', ')),
    check('type', 'typ', typ, types.includes(String(typ).toLowerCase()), types.join(', ')),
    check('lifetime', 'exp', exp, isShort, longest === 0 ? 'a time' : `at most ${longest} seconds after iat`),
    check('lifetime', 'iat', iat, Number(iat ?? now) <= now + LEEWAY_SECONDS, `at most ${now}`),
    ...config.JWT_REQUIRE.map(({ claim, value }) => {
      const found = claimValue(claims, claim);
      return check('require', claim.name, found, isScalar(found) && String(found) === value, value);
    }),
    check('player', player.name, claimValue(claims, player), !!identityOf(claims, config), 'a player'),
    check('scopes', scopes.name, claimValue(claims, scopes), !!scopesOf(claims, config), 'text or texts'),
  ];
}

/** A claim for the log, at most 100 characters. Of what names a person, and of objects, only the type of the JSON value. */
function shown(value: unknown, isPersonal: boolean): string {
  const type = value === undefined ? 'absent' : value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value;
  if (isPersonal || !(isScalar(value) || type === 'list')) return type;
  return (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 100);
}

/** The player that a token names, or a client that is none; undefined for a claim that cannot be used. */
function identityOf(claims: Claims, config: JwtConfig): Pick<Caller, 'key' | 'playerUniqueId'> | undefined {
  const player = claimValue(claims, config.JWT_PLAYER_CLAIM);
  if (player !== undefined) {
    const id = Number.isSafeInteger(player) ? String(player) : player;
    return typeof id === 'string' && !idProblem(id) ? { key: `player:${id}`, playerUniqueId: id } : undefined;
  }
  const name = ['sub', 'azp', 'client_id'].find((claim) => typeof claims[claim] === 'string' && claims[claim] !== '');
  return name ? { key: `token:${JSON.stringify([claims['iss'], name, claims[name]])}` } : undefined;
}

/** The claim that decides about scopes: the first that the token has. */
function scopeClaim(claims: Claims, { JWT_SCOPE_CLAIM }: JwtConfig) {
  return JWT_SCOPE_CLAIM.find((claim) => claimValue(claims, claim) !== undefined);
}

/** The names of scopes in a token; undefined when they are neither a text nor a list of texts. */
export function scopeNames(claims: Claims, config: JwtConfig): string[] | undefined {
  const claim = scopeClaim(claims, config);
  const value = claim ? claimValue(claims, claim) : [];
  const names: unknown[] = typeof value === 'string' ? namesIn(value) : [value].flat();
  return names.every((name) => typeof name === 'string') ? names.filter((name) => name !== '') : undefined;
}

/** The scopes of this gateway that a token has; undefined when its claim cannot be read. */
function scopesOf(claims: Claims, config: JwtConfig): readonly Scope[] | undefined {
  if (!scopeClaim(claims, config)) return config.JWT_DEFAULT_SCOPES;
  return scopeNames(claims, config)?.flatMap((name) => mapScope(name, config));
}

/** The scopes that one name in a token stands for. */
export function mapScope(name: string, { JWT_SCOPE_MAP: map }: JwtConfig): readonly Scope[] {
  if (map) return map.get(name) ?? [];
  return isScope(name) ? [name] : [];
}

/** Why a token has no scopes, for developers: names of claims alone. */
function missingScopes(claims: Claims, { JWT_SCOPE_CLAIM }: JwtConfig): string {
  const wanted = JWT_SCOPE_CLAIM.map(({ name }) => `\`${name}\``).join(' or ');
  return `the token has no claim ${wanted}; it has ${Object.keys(claims).join(', ')}`.slice(0, 300);
}
