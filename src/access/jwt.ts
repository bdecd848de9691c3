import { decodeProtectedHeader, errors, type JWTPayload, type JWTVerifyOptions } from 'jose';
import type { JwtConfig, JwtKey } from '../config/auth.ts';
import { readPublicKey, readSharedSecret } from '../config/jwt-keys.ts';
import { isScope } from '../config/scopes.ts';
import { idProblem } from '../rest/request.ts';
import { type Caller, createCaller } from './caller.ts';
import { type Keys, LocalKeys, RemoteKeys } from './keys.ts';

interface JwtVerifier {
  /** The caller of a token, or why the token is not valid. Throws `KeysUnavailable`. */
  verify(token: string): Promise<Verified | TokenFailure>;
  readonly keys: Keys;
}

/** A caller whose token was verified, and when the verification expires, in milliseconds since 1970. */
export interface Verified {
  caller: Caller;
  expiresAt: number;
}

/**
 * Why a token is not valid: it is not a JWT (`unknown`), a claim or a header member is not accepted, it has expired, or no
 * key verifies its signature.
 */
export type TokenFailure = 'unknown' | 'claims' | 'expired' | 'signature';

/** The largest allowed difference between clocks, in seconds. */
const LEEWAY_SECONDS = 60;

/** Header members that carry a key or change the verification. Tokens with one of them are refused. */
const REFUSED_MEMBERS = ['crit', 'b64', 'jku', 'jwk', 'x5u', 'x5c'];

/** Values of `typ` that a token may have, in lower case (RFC 7519, section 5.1; RFC 9068, section 2.1). */
const TYPES: ReadonlySet<string> = new Set(['jwt', 'application/jwt', 'at+jwt', 'application/at+jwt']);

/** Verifies JWTs with one configured key, issuer and audience. `warn` reports keys that cannot be fetched or read. */
export function createJwtVerifier(config: JwtConfig, warn: (message: string) => void): JwtVerifier {
  const { key, issuer, audience } = config;
  const keys = createKeys(key, warn);
  const options: JWTVerifyOptions = {
    issuer,
    audience,
    clockTolerance: LEEWAY_SECONDS,
    requiredClaims: ['exp', 'sub'],
  };
  return {
    keys,
    async verify(token) {
      try {
        if (!isAcceptable(decodeProtectedHeader(token), config.type)) return 'claims';
        const claims = await keys.check(token, options);
        return toVerified(claims, keys.trustedUntil, config.maxLifetimeSeconds) ?? 'claims';
      } catch (error) {
        return failureOf(error);
      }
    },
  };
}

/** Throws what does not say anything about the token. */
function failureOf(error: unknown): TokenFailure {
  if (error instanceof TypeError) return 'unknown';
  if (error instanceof errors.JWTExpired) return 'expired';
  if (error instanceof errors.JWTClaimValidationFailed) return 'claims';
  if (error instanceof errors.JOSEError) return 'signature';
  throw error;
}

/** The keys that a configuration names. `warn` reports keys that cannot be fetched or read. */
function createKeys(key: JwtKey, warn: (message: string) => void): Keys {
  switch (key.kind) {
    case 'jwks':
      return new RemoteKeys(key.url, warn);
    case 'public-key':
      return new LocalKeys(key.pem, readPublicKey);
    case 'secret':
      return new LocalKeys(key.secret, readSharedSecret);
    default:
      return key satisfies never;
  }
}

function isAcceptable(header: object, configured: string | undefined): boolean {
  if (REFUSED_MEMBERS.some((member) => member in header)) return false;
  const typ: unknown = Reflect.get(header, 'typ');
  if (typ === undefined) return true;
  if (typeof typ !== 'string') return false;
  return TYPES.has(typ.toLowerCase()) || typ.toLowerCase() === configured?.toLowerCase();
}

function toVerified(
  { sub, exp, iat, scope }: JWTPayload,
  trustedUntil: number,
  maxLifetimeSeconds: number,
): Verified | undefined {
  if (typeof sub !== 'string' || idProblem(sub) || !Number.isFinite(exp) || exp === undefined) return undefined;
  const now = Date.now() / 1_000;
  if (iat !== undefined && iat > now + LEEWAY_SECONDS) return undefined;
  if (maxLifetimeSeconds > 0 && exp - (iat ?? now) > maxLifetimeSeconds) return undefined;
  const scopes = typeof scope === 'string' ? scope.split(' ').filter(isScope) : [];
  return {
    caller: createCaller(sub, scopes, true),
    expiresAt: Math.min((exp + LEEWAY_SECONDS) * 1_000, trustedUntil),
  };
}
