/* Tokens made by hand, so that everything about them can be wrong. */
import { createHash, createHmac, generateKeyPairSync, type JsonWebKey, randomBytes, sign } from 'node:crypto';
import { SCOPES } from '../../src/config/scopes.ts';

export const ISSUER = 'https://login.example';
export const AUDIENCE = 'referral-gateway';

/** Something that signs tokens, and the settings by which a gateway believes it. */
export interface Signer {
  name: string;
  alg: string;
  kid?: string;
  sign(input: string): Buffer;
  env: Record<string, string>;
  /** The text of the key that verifies: public, except for a shared secret. */
  verifying: string;
  jwk?: JsonWebKey;
}

const common = { JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE };

export function secretSigner(secret = randomBytes(24).toString('base64')): Signer {
  const hmac = (input: string) => createHmac('sha256', secret).update(input).digest();
  const env = { ...common, JWT_SECRET: secret };
  return { name: 'a shared secret', alg: 'HS256', sign: hmac, env, verifying: secret };
}

const GENERATE = {
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
};

export function keySigner(alg: keyof typeof GENERATE, kid?: string): Signer {
  const { publicKey, privateKey } = GENERATE[alg]();
  const named = { alg, ...(kid !== undefined && { kid }) };
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const;
  return {
    name: `a public key for ${alg}`,
    ...named,
    sign: (input) => sign(alg === 'EdDSA' ? null : 'sha256', Buffer.from(input), key),
    env: { ...common, JWT_PUBLIC_KEY: pem },
    verifying: pem,
    jwk: { ...publicKey.export({ format: 'jwk' }), use: 'sig', ...named },
  };
}

export const now = () => Math.floor(Date.now() / 1_000);

export type Json = Record<string, unknown>;

/** What an honest token of the player p1 says. */
export function claims(more: Json = {}): Json {
  return { iss: ISSUER, aud: AUDIENCE, sub: 'p1', exp: now() + 3_600, scope: SCOPES.join(' '), ...more };
}

export function header({ alg, kid }: Signer, more: Json = {}): Json {
  return { alg, typ: 'JWT', ...(kid !== undefined && { kid }), ...more };
}

/** A value as a part of a token; text goes in as it is. */
export function part(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
}

/** A token with any header and payload, signed by a signer. */
export function signed(signer: Pick<Signer, 'sign'>, head: unknown, payload: unknown): string {
  const input = `${part(head)}.${part(payload)}`;
  return `${input}.${signer.sign(input).toString('base64url')}`;
}

/** An honest token, with whatever claims it is to have instead. */
export function token(signer: Signer, more: Json = {}): string {
  return signed(signer, header(signer), claims(more));
}

/** The header of a token: of a text, or of an honest one that a signer makes. */
export const bearer = (by: string | Signer, more?: Json) => ({
  authorization: `Bearer ${typeof by === 'string' ? by : token(by, more)}`,
});

export const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** For tests that ask as fast as they can about something other than rates. */
export const UNLIMITED: Record<string, string> = Object.fromEntries(
  ['OPERATIONS', 'COUPON_READS', 'FAILED_AUTHENTICATIONS'].flatMap((what) =>
    [`MAX_${what}_PER_SECOND`, `MAX_${what}_BURST`].map((name) => [name, '10000']),
  ),
);
