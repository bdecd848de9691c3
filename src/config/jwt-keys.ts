import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';

/** A key from the configuration, and the signature algorithms that it verifies. */
export interface LocalKey {
  key: KeyObject;
  algorithms: readonly string[];
}

/** Signature algorithms by kind of key. The configured key determines them; the `alg` of a token must be one of them. */
export const SIGNATURES = {
  rsa: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ec: ['ES256', 'ES384', 'ES512'],
  ed25519: ['EdDSA', 'Ed25519'],
  secret: ['HS256', 'HS384', 'HS512'],
} as const;

/** The signature algorithm of each curve, by OpenSSL's name of the curve. */
const CURVES: Partial<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' };

const MIN_SECRET_BYTES = 32;
const MIN_RSA_BITS = 2_048;

/** Reads `JWT_SECRET`. Throws for a secret that is too short; the caller puts the variable's name before the message. */
export function readSharedSecret(text: string): LocalKey {
  if (Buffer.byteLength(text) < MIN_SECRET_BYTES) throw new Error(`must have at least ${MIN_SECRET_BYTES} bytes`);
  return { key: createSecretKey(Buffer.from(text)), algorithms: SIGNATURES.secret };
}

/** Reads `JWT_PUBLIC_KEY`, a key or a certificate in PEM. Throws in the same way, and never shows the text. */
export function readPublicKey(pem: string): LocalKey {
  if (/PRIVATE KEY/.test(pem))
    throw new Error('must be the public key; this is a private one, which belongs elsewhere');
  const key = parsePublicKey(pem);
  const { modulusLength = 0, namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  switch (key.asymmetricKeyType) {
    case 'rsa':
      if (modulusLength < MIN_RSA_BITS) throw new Error(`must have at least ${MIN_RSA_BITS} bits`);
      return { key, algorithms: SIGNATURES.rsa };
    case 'ec': {
      const algorithm = CURVES[namedCurve];
      if (!algorithm) throw new Error('must use the curve P-256, P-384 or P-521');
      return { key, algorithms: [algorithm] };
    }
    case 'ed25519':
      return { key, algorithms: SIGNATURES.ed25519 };
    default:
      throw new Error(`must be an RSA, EC or Ed25519 key, not ${key.asymmetricKeyType ?? 'one of unknown kind'}`);
  }
}

function parsePublicKey(pem: string): KeyObject {
  try {
    return createPublicKey(pem);
  } catch {
    throw new Error('must be a public key in PEM, beginning with "-----BEGIN PUBLIC KEY-----"');
  }
}
