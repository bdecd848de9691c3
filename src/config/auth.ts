import { readFileSync } from 'node:fs';
import * as z from 'zod';
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
  issuer: string;
  audience: string;
  /** The longest lifetime that is accepted, in seconds; 0 accepts any. */
  maxLifetimeSeconds: number;
  /** A value of the header `typ` that is accepted beside `JWT` and `at+jwt`. */
  type: string | undefined;
}

/** How callers are authenticated. An open gateway gives every caller all scopes, as the demo player. */
export type AuthConfig =
  | { kind: 'open' }
  | { kind: 'tokens'; jwt: JwtConfig | undefined; clientTokensFile: string | undefined };

/** Reads how callers are authenticated. Adds one line to `problems` for each setting that cannot be used. */
export function readAuth(settings: Settings['auth'], problems: string[]): AuthConfig {
  const { issuer, audience, maxLifetimeSeconds, type, clientTokensFile } = settings;
  const key = readKey(settings, problems);
  if (key && !issuer) problems.push('JWT_ISSUER: is needed with a JWT key; it is what the claim "iss" must say');
  if (key && !audience) problems.push('JWT_AUDIENCE: is needed with a JWT key; it is what the claim "aud" must hold');
  if (!key && (issuer || audience)) {
    problems.push('JWT_JWKS_URL, JWT_PUBLIC_KEY or JWT_SECRET: one is needed with JWT_ISSUER and JWT_AUDIENCE');
  }
  if (clientTokensFile) {
    report('CLIENT_TOKENS_FILE', () => readTokensFile(clientTokensFile), problems);
  }
  const jwt = key && issuer && audience ? { key, issuer, audience, maxLifetimeSeconds, type } : undefined;
  return key || clientTokensFile ? { kind: 'tokens', jwt, clientTokensFile } : { kind: 'open' };
}

function readKey({ jwksUrl, publicKey: pem, secret }: Settings['auth'], problems: string[]): JwtKey | undefined {
  const keys: JwtKey[] = [];
  if (jwksUrl) keys.push({ kind: 'jwks', url: jwksUrl });
  if (pem) {
    keys.push({ kind: 'public-key', pem });
    report('JWT_PUBLIC_KEY', () => readPublicKey(reveal(pem)), problems);
  }
  if (secret) {
    keys.push({ kind: 'secret', secret });
    report('JWT_SECRET', () => readSharedSecret(reveal(secret)), problems);
  }
  if (keys.length > 1) problems.push('JWT_JWKS_URL, JWT_PUBLIC_KEY, JWT_SECRET: set exactly one of them');
  return keys[0];
}

function report(name: string, read: () => unknown, problems: string[]): void {
  try {
    read();
  } catch (error) {
    problems.push(`${name}: ${reasonOf(error)}`);
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
  const issuer = auth.jwt && `Tokens are issued by ${auth.jwt.issuer}.`;
  const client =
    auth.clientTokensFile &&
    `\`npm run token -- --client my-tool --recipe support\` prints a token and its entry for ${auth.clientTokensFile}.`;
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

type ClientToken = z.output<typeof TOKENS_FILE>[number];

/**
 * Reads `CLIENT_TOKENS_FILE`. Throws for a file that cannot be used; the caller puts the variable's name before the message.
 */
export function readTokensFile(path: string): ClientToken[] {
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
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`the file ${path} is not valid JSON`);
  }
}

function unique(texts: readonly string[]): boolean {
  return new Set(texts).size === texts.length;
}
