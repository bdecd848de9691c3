import { decodeProtectedHeader, errors } from 'jose';
import type { JwtConfig } from '../config/auth.ts';
import { type Claim, claimValue, readClaim } from '../config/claims.ts';
import { isScope, type Scope } from '../config/scopes.ts';
import { idProblem } from '../rest/request.ts';
import type { Caller, Rejection, TokenReason } from './caller.ts';
import { createKeys, type Keys, KeysUnavailable } from './keys.ts';

/** A caller whose token was verified, and when the verification expires, in milliseconds since 1970. */
export interface Verified {
  caller: Caller;
  expiresAt: number;
}

export interface JwtVerifier {
  /** The caller of a token, or why the token is rejected. Throws `KeysUnavailable` and nothing else. */
  verify(token: string): Promise<Verified | Rejection>;
  readonly keys: Keys;
}

export interface JwtOptions {
  /** Reports keys that cannot be fetched or imported. */
  warn(message: string): void;
  /** The name for the log of a player or client. */
  nameOf(id: string): string;
  /** Whether errors say why a token has no scopes. */
  development: boolean;
}

/** Verifies JWTs with one configured key. */
export function createJwtVerifier(config: JwtConfig, { warn, nameOf, development }: JwtOptions): JwtVerifier {
  const keys = createKeys(config.key, warn);
  return {
    keys,
    async verify(token) {
      try {
        const { header, claims } = await readToken(token, keys);
        const rejection = checksOf(claims, header, config).find(({ ok }) => !ok);
        if (rejection) {
          const { ok: _, ...rest } = rejection;
          return rest;
        }
        const caller = callerOf(claims, config, nameOf);
        const hint = development ? missingScopes(claims, config) : undefined;
        const end = (Number(claims['exp']) + LEEWAY_SECONDS) * 1_000;
        return { caller: hint ? { ...caller, hint } : caller, expiresAt: Math.min(end, keys.trustedUntil) };
      } catch (error) {
        return rejectionOf(error);
      }
    },
  };
}

export type Claims = Record<string, unknown>;

/** A token that is rejected before its claims are looked at. */
class Rejected extends Error {
  readonly rejection: Rejection;

  constructor(rejection: Rejection) {
    super(rejection.reason);
    this.rejection = rejection;
  }
}

/** Whatever a verification throws rejects the token, except that there are no keys. */
export function rejectionOf(error: unknown): Rejection {
  if (error instanceof KeysUnavailable) throw error;
  if (error instanceof Rejected) return error.rejection;
  if (error instanceof errors.JWKSNoMatchingKey) return { reason: 'signature', expected: 'a key of the key set' };
  if (error instanceof errors.JWSInvalid || error instanceof SyntaxError) return { reason: 'malformed' };
  return { reason: 'signature' };
}

/** Header members that carry a key or change the verification. Tokens with one of them are rejected. */
const REJECTED_MEMBERS = ['crit', 'b64', 'jku', 'jwk', 'x5u', 'x5c'];

/** Header and claims of a token whose signature is valid. */
export async function readToken(token: string, keys: Keys): Promise<{ header: Claims; claims: Claims }> {
  const header = { ...readHeader(token) };
  const member = REJECTED_MEMBERS.find((name) => name in header);
  if (member) throw new Rejected({ reason: 'malformed', claim: member, expected: 'no such header' });
  const { payload } = await keys.verify(token);
  const claims: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
  if (!isObject(claims)) throw new Rejected({ reason: 'malformed' });
  return { header, claims };
}

function readHeader(token: string): object {
  try {
    return decodeProtectedHeader(token);
  } catch {
    throw new Rejected({ reason: 'malformed' });
  }
}

function isObject(value: unknown): value is Claims {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The largest allowed difference between clocks, in seconds. */
const LEEWAY_SECONDS = 60;

/** Values of `typ` that a token may have, in lower case (RFC 7519, section 5.1; RFC 9068, section 2.1). */
const TYPES = ['jwt', 'application/jwt', 'at+jwt', 'application/at+jwt'];

/** One check of a token, and whether it holds. */
export interface Check extends Rejection {
  ok: boolean;
}

/** Every check of a token whose signature is valid, in their order. */
export function checksOf(claims: Claims, header: Claims, config: JwtConfig): Check[] {
  const { issuers, audiences, audienceClaim, require, type } = config;
  const check = (reason: TokenReason, ok: boolean, { name, path }: Claim, expected: string, among = claims): Check => {
    return { ok, reason, claim: name, expected, found: shown(claimValue(among, { name, path }), name, claims, config) };
  };
  const typ = header['typ'];
  const types = type === undefined ? TYPES : [...TYPES, type.toLowerCase()];
  return [
    check(
      'issuer',
      issuers.some((one) => one === claims['iss']),
      readClaim('iss'),
      issuers.join(', '),
    ),
    check('audience', audienceFits(claimValue(claims, audienceClaim), audiences), audienceClaim, audiences.join(', ')),
    check(
      'type',
      typ === undefined || (typeof typ === 'string' && types.includes(typ.toLowerCase())),
      readClaim('typ'),
      types.join(', '),
      header,
    ),
    ...timesOf(claims, config).map(([reason, ok, name, expected]) => check(reason, ok, readClaim(name), expected)),
    ...require.map(({ claim, value }) => {
      const found = claimValue(claims, claim);
      return check('require', !isList(found) && String(found) === value, claim, value);
    }),
    check('player', readPlayer(claims, config) !== undefined, config.playerClaim, 'the identifier of a player'),
    check('scopes', scopesOf(claims, config) !== undefined, scopeClaim(claims, config), 'a text, or a list of texts'),
  ];
}

function isList(value: unknown): boolean {
  return typeof value === 'object' || value === undefined;
}

function audienceFits(found: unknown, audiences: readonly string[]): boolean {
  return [found].flat().some((one) => typeof one === 'string' && audiences.includes(one));
}

type TimeCheck = [reason: TokenReason, ok: boolean, claim: string, expected: string];

function timesOf({ exp, nbf, iat }: Claims, { maxLifetimeSeconds }: JwtConfig): TimeCheck[] {
  const now = Math.floor(Date.now() / 1_000);
  const begins = (time: unknown) => time === undefined || (isTime(time) && time <= now + LEEWAY_SECONDS);
  const isLimited = maxLifetimeSeconds > 0;
  const lifetime = isTime(exp) ? exp - (isTime(iat) ? iat : now) : Number.POSITIVE_INFINITY;
  const longest = isLimited ? `at most ${maxLifetimeSeconds} seconds after iat` : 'a time in seconds';
  return [
    ['expired', !isTime(exp) || exp > now - LEEWAY_SECONDS, 'exp', `after ${now}`],
    ['lifetime', isTime(exp) && (!isLimited || lifetime <= maxLifetimeSeconds), 'exp', longest],
    ['lifetime', begins(nbf), 'nbf', `at most ${now}`],
    ['lifetime', begins(iat), 'iat', `at most ${now}`],
  ];
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

/** The longest text of a claim in the log, in characters. */
const MAX_SHOWN = 100;

/** A claim for the log. Of what can name a person, only the type of the JSON value. */
function shown(value: unknown, name: string, { sub }: Claims, { playerClaim }: JwtConfig): string {
  const type = value === undefined ? 'absent' : value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value;
  const isText = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  const text = isText ? String(value) : type === 'list' ? JSON.stringify(value) : type;
  const isPersonal = name === playerClaim.name || name === 'sub' || value === sub || /@/.test(text);
  return isPersonal || (typeof value === 'string' && /^\+?\d{6,}$/.test(value)) ? type : text.slice(0, MAX_SHOWN);
}

/** The player that a token names; `null` for a client that is none; undefined for a claim that cannot be used. */
function readPlayer(claims: Claims, { playerClaim }: JwtConfig): string | null | undefined {
  const value = claimValue(claims, playerClaim);
  if (value === undefined) return clientKey(claims) === undefined ? undefined : null;
  const id = Number.isSafeInteger(value) ? String(value) : value;
  return typeof id === 'string' && !idProblem(id) ? id : undefined;
}

/** What tells apart clients that are no players. */
function clientKey(claims: Claims): string | undefined {
  const name = ['sub', 'azp', 'client_id'].find((claim) => typeof claims[claim] === 'string' && claims[claim] !== '');
  return name && JSON.stringify([claims['iss'], name, claims[name]]);
}

/** The claim that decides about scopes: the first that the token has. */
function scopeClaim(claims: Claims, { scopeClaims }: JwtConfig): Claim {
  return scopeClaims.find((claim) => claimValue(claims, claim) !== undefined) ?? scopeClaims[0] ?? readClaim('scope');
}

/** The names of scopes in a token; undefined when they are neither a text nor a list of texts. `null` without a claim. */
export function scopeNames(claims: Claims, config: JwtConfig): string[] | null | undefined {
  const value = claimValue(claims, scopeClaim(claims, config));
  if (value === undefined) return null;
  const names: unknown[] = typeof value === 'string' ? value.split(' ') : Array.isArray(value) ? value : [0];
  return names.every((name) => typeof name === 'string') ? names.filter((name) => name !== '') : undefined;
}

/** The scopes of this gateway that a token has; undefined when its claim cannot be read. */
export function scopesOf(claims: Claims, config: JwtConfig): readonly Scope[] | undefined {
  const names = scopeNames(claims, config);
  if (names === null) return config.defaultScopes;
  return names?.flatMap((name) => mapScope(name, config));
}

/** The scopes that one name in a token stands for. */
export function mapScope(name: string, { scopeMap }: JwtConfig): readonly Scope[] {
  if (scopeMap) return scopeMap.get(name) ?? [];
  return isScope(name) ? [name] : [];
}

/** Only for claims that passed every check. */
function callerOf(claims: Claims, config: JwtConfig, nameOf: (id: string) => string): Caller {
  const sub = readPlayer(claims, config) ?? undefined;
  const key = sub ?? clientKey(claims) ?? '';
  const scopes = new Set(scopesOf(claims, config));
  const caller = { name: nameOf(key), key: `${sub === undefined ? 'token' : 'player'}:${key}`, scopes };
  return sub === undefined ? caller : { ...caller, sub };
}

/** Claims that providers use for scopes. */
const USUAL = ['scope', 'scp', 'scopes', 'permissions', 'roles', 'groups', 'realm_access', 'resource_access'];

function missingScopes(claims: Claims, config: JwtConfig): string | undefined {
  if (scopeNames(claims, config) !== null || config.defaultScopes.length > 0) return undefined;
  const others = USUAL.filter((name) => Object.hasOwn(claims, name)).map((name) => `\`${name}\``);
  const wanted = config.scopeClaims.map(({ name }) => `\`${name}\``).join(' or ');
  return `the token has no claim ${wanted}${others.length > 0 ? `; it has ${others.join(' and ')}` : ''}`;
}
