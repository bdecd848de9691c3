/* Forms of the settings that say which tokens are accepted. */
import { createPublicKey, createSecretKey, type KeyObject } from 'node:crypto';
import * as z from 'zod';
import { pemOf, readBy, readFile, texts } from './forms.ts';
import { isScope, namesIn, type Scope } from './scopes.ts';

/** A key from the configuration, and the signature algorithms that it verifies. It prints without its value. */
export interface LocalKey {
  key: KeyObject;
  algorithms: string[];
}

/** The signature algorithms of each kind of key, or curve by OpenSSL's name. The `alg` of a token must be one of its key's. */
const ALGORITHMS: Partial<Record<string, string[]>> = {
  rsa: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  prime256v1: ['ES256'],
  secp384r1: ['ES384'],
  secp521r1: ['ES512'],
  ed25519: ['EdDSA', 'Ed25519'],
};
export const PUBLIC_ALGORITHMS = Object.values(ALGORITHMS).flatMap((names) => names ?? []);

const MIN_RSA_BITS = 2_048;

export const sharedSecret = readBy((text): LocalKey => {
  if (Buffer.byteLength(text) < 32) throw new Error('must have at least 32 bytes');
  // Anyone with a public key could sign tokens with it.
  if (pemOf(text) !== '' || publicKey.safeParse(text).success)
    throw new Error('must be no key or certificate; that of the identity provider is JWT_PUBLIC_KEY');
  return { key: createSecretKey(Buffer.from(text)), algorithms: ['HS256', 'HS384', 'HS512'] };
}, 'secret');

/** A key or a certificate in PEM, or what is between the first and last line of a key, as Keycloak shows it. */
export const publicKey = readBy(
  (given): LocalKey => {
    const pem = pemOf(given) || pemOf(`-----BEGIN PUBLIC KEY-----${given}-----END PUBLIC KEY-----`);
    const key = createPublicKey(pem);
    const { modulusLength = MIN_RSA_BITS, namedCurve = key.asymmetricKeyType } = key.asymmetricKeyDetails ?? {};
    const algorithms = ALGORITHMS[namedCurve ?? ''];
    // A private key has a public one too, but it belongs elsewhere. Of several public keys, only the first would be used.
    if (!algorithms || modulusLength < MIN_RSA_BITS || /PRIVATE KEY|PUBLIC KEY-----\n-/.test(pem)) throw new Error();
    return { key, algorithms };
  },
  'secret',
  `must be one public key in PEM, not a private one: RSA with at least ${MIN_RSA_BITS} bits, P-256, P-384, P-521 or Ed25519`,
);

/** Where a token has a value: the literal name of a claim, or, with a leading `/`, a JSON Pointer (RFC 6901). */
export interface Claim {
  name: string;
  path: readonly string[];
}

function readClaim(name: string): Claim {
  const isPointer = name.startsWith('/');
  if (isPointer && /~(?![01])/.test(name)) throw new Error(`"${name}" is no JSON Pointer: write ~ as ~0`);
  const steps = name.slice(1).split('/');
  const path = isPointer ? steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')) : [name];
  // Every object has the last three.
  const refused = path.find((step) => ['', '__proto__', 'constructor', 'prototype'].includes(step));
  if (refused !== undefined) throw new Error(`"${name}" must not have the name "${refused}"`);
  return { name, path };
}

export const claim = readBy(readClaim, 'text');

export const claims = texts.refine((names) => names.length > 0, 'must name a claim').pipe(z.array(claim));

export const requirements = texts.pipe(
  z.array(
    readBy((text) => {
      const [, name = '', value = ''] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
      if (name === '') throw new Error(`"${text}" must be a claim and its value, such as token_use=access`);
      return { claim: readClaim(name.trim()), value: value.trim() };
    }, 'claim=value'),
  ),
);

const scope = z.custom<Scope>((given) => typeof given === 'string' && isScope(given), {
  error: ({ input }) => `"${input}" is no scope of this gateway`,
});

/** Scopes in JSON: a list, or a text with commas or spaces. */
const scopes = z.preprocess((given) => (typeof given === 'string' ? namesIn(given) : given), z.array(scope));

/** Scopes that a token must ask for by itself. */
const NEVER_BY_DEFAULT = [
  ...['any-player', 'figures:write', 'players:delete'],
  ...['contacts:read', 'contacts:write', 'events:write'],
];

export const defaultScopes = z
  .string()
  .transform(namesIn)
  .pipe(z.array(scope))
  .refine((all) => !all.some((one) => NEVER_BY_DEFAULT.includes(one)), `must not have ${NEVER_BY_DEFAULT.join(', ')}`)
  .describe('scopes, separated by commas or spaces');

/** The message of JSON.parse shows the text, which can hold a secret. */
const json = readBy((text): unknown => JSON.parse(text), 'secret', 'must be JSON');

export const scopeMap = json
  .pipe(z.record(z.string(), scopes))
  .transform((scopes) => new Map(Object.entries(scopes)))
  .describe('secret');

/** The longest name of a client, in characters. */
export const MAX_CLIENT_NAME_LENGTH = 100;

const CLIENT_TOKENS = z
  .array(
    z.strictObject({
      name: z.string().min(1).max(MAX_CLIENT_NAME_LENGTH),
      sha256: z.hash('sha256', { error: 'must be a SHA-256 in hexadecimal: 64 digits' }).toLowerCase(),
      scopes,
      expiresAt: z.iso.datetime({ offset: true, error: 'must be a time such as 2030-12-31T00:00:00Z' }).optional(),
    }),
  )
  .refine(
    (all) => new Set(all.flatMap(({ name, sha256 }) => [name, sha256])).size === 2 * all.length,
    'no two clients may have the same name or token',
  );

/** A client that is no player, and the SHA-256 of its token. */
export type ClientToken = z.output<typeof CLIENT_TOKENS>[number];

/** The clients of a file, which is read once. */
export const clientTokens = readBy((file) => readFile(file).toString().trim(), 'text')
  .pipe(json)
  .pipe(CLIENT_TOKENS)
  .describe('path');
