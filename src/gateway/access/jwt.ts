import { decodeProtectedHeader, errors, type JWTPayload } from 'jose';
import type { JwtConfig } from '../../config/auth.ts';
import { isScope } from '../../config/scopes.ts';
import { playerIdProblem } from '../graphql/input/text.ts';
import { createKeys } from './keys.ts';
import type { Verified } from './verified-tokens.ts';

export interface VerifyJwt {
  /** The caller of a token, or undefined for a token that does not hold, also when the keys cannot be had. */
  verify(token: string): Promise<Verified | undefined>;
  /** Changes whenever the keys change, so that nothing verified with earlier ones is trusted longer. */
  generation(): unknown;
}

/** How far clocks may be apart, in seconds. */
const LEEWAY_SECONDS = 60;

/** Header members by which a token brings its own key or changes how it is to be read. */
const REFUSED_MEMBERS = ['crit', 'b64', 'jku', 'jwk', 'x5u', 'x5c'];

/** Verifies JWTs against one configured key, issuer and audience. `warn` hears of keys that cannot be had. */
export function createJwtVerifier({ key, issuer, audience }: JwtConfig, warn: (message: string) => void): VerifyJwt {
  const keys = createKeys(key, warn);
  const options = { issuer, audience, clockTolerance: LEEWAY_SECONDS, requiredClaims: ['exp', 'sub'] };
  return {
    generation: keys.generation,
    async verify(token) {
      try {
        const header = decodeProtectedHeader(token);
        if (REFUSED_MEMBERS.some((member) => member in header)) return undefined;
        return toVerified(await keys.check(token, options), keys.trustedUntil());
      } catch (error) {
        if (!isRefusal(error))
          warn(`tokens cannot be verified: ${error instanceof Error ? error.message : String(error)}`);
        return undefined;
      }
    },
  };
}

function toVerified({ sub, exp, scope }: JWTPayload, trustedUntil: number): Verified | undefined {
  if (typeof sub !== 'string' || playerIdProblem(sub) || !Number.isFinite(exp) || exp === undefined) return undefined;
  const scopes = typeof scope === 'string' ? scope.split(' ').filter(isScope) : [];
  return {
    caller: { name: sub, sub, scopes: new Set(scopes) },
    expiresAt: Math.min((exp + LEEWAY_SECONDS) * 1_000, trustedUntil),
  };
}

/** Whether an error says that the token is at fault, and not that the keys could not be had. */
function isRefusal(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return false;
  if (error instanceof errors.JOSEError) return error.code !== 'ERR_JOSE_GENERIC';
  return error instanceof TypeError && error.cause === undefined;
}
