import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import {
  createRemoteJWKSet,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose';
import type { JwtConfig, JwtKey } from '../../config.ts';
import { reveal } from '../../rest/secret.ts';
import type { SecretSource } from '../../secret-file.ts';
import { playerIdProblem } from '../input/text.ts';
import { isScope } from './caller.ts';
import type { Verified } from './remembered.ts';

export interface VerifyJwt {
  /** The caller of a token, or undefined for a token that does not hold. Throws when the keys cannot be fetched. */
  verify(token: string): Promise<Verified | undefined>;
  /** Changes whenever the keys change by configuration, so that nothing verified with earlier ones is trusted longer. */
  generation(): unknown;
}

/** How far clocks may be apart, in seconds. */
const LEEWAY_SECONDS = 60;

/** Signature algorithms by kind of key. The configuration's key decides; what a token says of itself is only compared. */
const ALGORITHMS = {
  rsa: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ec: ['ES256', 'ES384', 'ES512'],
  ed25519: ['EdDSA', 'Ed25519'],
  secret: ['HS256', 'HS384', 'HS512'],
};

/** Header members by which a token tries to bring its own key. */
const OWN_KEYS = ['jku', 'jwk', 'x5u', 'x5c'];

type Check = (token: string, options: JWTVerifyOptions) => Promise<{ payload: JWTPayload }>;

/** Verifies JWTs against one configured key, issuer and audience. Throws for a key that cannot be used. */
export function createJwtVerifier({ key, issuer, audience }: JwtConfig): VerifyJwt {
  const check = checkWith(key);
  const options = { issuer, audience, clockTolerance: LEEWAY_SECONDS, requiredClaims: ['exp', 'sub'] };
  return {
    generation: generationOf(key),
    async verify(token) {
      try {
        const header = decodeProtectedHeader(token);
        if (header.crit !== undefined || OWN_KEYS.some((member) => member in header)) return undefined;
        return toVerified((await check(token, options)).payload);
      } catch (error) {
        if (isRefusal(error)) return undefined;
        throw error;
      }
    },
  };
}

function checkWith(key: JwtKey): Check {
  switch (key.kind) {
    case 'jwks': {
      const keys = createRemoteJWKSet(key.url, {
        timeoutDuration: 5_000,
        cooldownDuration: 30_000,
        cacheMaxAge: 600_000,
      });
      const algorithms = [...ALGORITHMS.rsa, ...ALGORITHMS.ec, ...ALGORITHMS.ed25519];
      return (token, options) => jwtVerify(token, keys, { ...options, algorithms });
    }
    case 'public-key':
      return withKey(
        key.pem,
        (pem) => createPublicKey(pem),
        (publicKey) => algorithmsOf(publicKey),
      );
    case 'secret':
      return withKey(
        key.secret,
        (secret) => createSecretKey(Buffer.from(secret)),
        () => ALGORITHMS.secret,
      );
    default:
      return key satisfies never;
  }
}

/** Reads the key once for each value its source has; the first time at once, so that a bad key fails at start. */
function withKey(
  source: SecretSource,
  read: (text: string) => KeyObject,
  algorithmsFor: (key: KeyObject) => string[],
): Check {
  let current = source();
  let key = read(reveal(current));
  let algorithms = algorithmsFor(key);
  return (token, options) => {
    if (source() !== current) {
      current = source();
      key = read(reveal(current));
      algorithms = algorithmsFor(key);
    }
    return jwtVerify(token, key, { ...options, algorithms });
  };
}

function algorithmsOf({ asymmetricKeyType }: KeyObject): string[] {
  if (asymmetricKeyType === 'rsa' || asymmetricKeyType === 'ec' || asymmetricKeyType === 'ed25519') {
    return ALGORITHMS[asymmetricKeyType];
  }
  throw new Error(
    `JWT_PUBLIC_KEY: a key of type ${asymmetricKeyType ?? 'unknown'} cannot verify tokens; use RSA, EC or Ed25519.`,
  );
}

function generationOf(key: JwtKey): () => unknown {
  switch (key.kind) {
    case 'jwks':
      return () => undefined;
    case 'public-key':
      return key.pem;
    case 'secret':
      return key.secret;
    default:
      return key satisfies never;
  }
}

function toVerified({ sub, exp, scope }: JWTPayload): Verified | undefined {
  if (typeof sub !== 'string' || playerIdProblem(sub) || typeof exp !== 'number') return undefined;
  const scopes = typeof scope === 'string' ? scope.split(' ').filter(isScope) : [];
  return { caller: { name: sub, sub, scopes: new Set(scopes) }, expiresAt: (exp + LEEWAY_SECONDS) * 1_000 };
}

/** Whether an error says that the token is at fault, and not that the keys could not be had. */
function isRefusal(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return false;
  if (error instanceof errors.JOSEError) return error.code !== 'ERR_JOSE_GENERIC';
  return error instanceof TypeError && !('cause' in error && error.cause);
}
