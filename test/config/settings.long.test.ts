import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { VARIABLES } from '../../src/config/variables.ts';
import { post } from '../kit/gateway.ts';
import { startProcess } from '../kit/process.ts';
import { redisIsInstalled, startRedis, type TestRedis } from '../kit/redis.ts';
import { AUDIENCE, ISSUER, keySigner, secretSigner, token } from '../kit/tokens.ts';
import { startUpstream, type Upstream } from '../kit/upstream.ts';

/* The built program starts and answers with every documented setting. */

jest.setTimeout(60_000);

let upstream: Upstream;
let redis: TestRedis | undefined;
beforeAll(async () => {
  upstream = await startUpstream();
  redis = redisIsInstalled ? await startRedis() : undefined;
});
const folder = mkdtempSync(join(tmpdir(), 'settings-'));
afterAll(async () => {
  await upstream.close();
  await redis?.kill();
  rmSync(folder, { recursive: true });
});

type Env = Record<string, string>;

const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const SECRET = 'a-secret-of-more-than-32-bytes-for-tests';
const [secretSign, keySign] = [secretSigner(SECRET), keySigner('ES256')];
const claims = { JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE };
const CLIENT = 'a-client-token-for-tests';
const clients = JSON.stringify([
  { name: 'client', sha256: createHash('sha256').update(CLIENT).digest('hex'), scopes: [] },
]);
const manifest = file(
  'manifest.json',
  JSON.stringify({ format: 'apollo-persisted-query-manifest', version: 1, operations: [] }),
);
const redisUrl = () => redis?.url ?? 'redis://127.0.0.1:1';

/** Settings that need others, or a value other than the default that is allowed. All others are set to their default. */
const VALUES: Record<string, () => Env> = {
  NODE_ENV: () => ({ NODE_ENV: 'production', JWT_SECRET: SECRET, ...claims }),
  HOST: () => ({ HOST: '127.0.0.1' }),
  PORT: () => ({ PORT: '0' }),
  MANAGEMENT_PORT: () => ({ MANAGEMENT_PORT: '0' }),
  REST_BASE_URL: () => ({}),
  REST_API_KEY: () => ({ REST_API_KEY: '', REST_API_KEY_FILE: file('api-key', 'key') }),
  REST_SECRET_KEY: () => ({ REST_SECRET_KEY: '', REST_SECRET_KEY_FILE: file('secret-key', 'key') }),
  JWT_JWKS_URL: () => ({ JWT_JWKS_URL: 'http://127.0.0.1:1/keys', ...claims }),
  JWT_PUBLIC_KEY: () => ({ JWT_PUBLIC_KEY_FILE: file('public-key', keySign.verifying), ...claims }),
  JWT_SECRET: () => ({ JWT_SECRET_FILE: file('jwt-secret', SECRET), ...claims }),
  JWT_ISSUER: () => ({ JWT_SECRET: SECRET, ...claims }),
  JWT_AUDIENCE: () => ({ JWT_SECRET: SECRET, ...claims }),
  JWT_SCOPE_MAP: () => ({ JWT_SCOPE_MAP: '{"reader":["players:read"]}', JWT_SECRET: SECRET, ...claims }),
  JWT_TYP: () => ({ JWT_TYP: 'app+jwt', JWT_SECRET: SECRET, ...claims }),
  CLIENT_TOKENS_FILE: () => ({ CLIENT_TOKENS_FILE: file('clients.json', clients) }),
  CORS_ORIGINS: () => ({ CORS_ORIGINS: 'https://app.example.com' }),
  FEDERATION: () => ({ FEDERATION: 'true' }),
  TRUST_PROXY: () => ({ TRUST_PROXY: '1' }),
  REDIS_URL: () => ({ REDIS_URL_FILE: file('redis-url', redisUrl()) }),
  PERSISTED_OPERATIONS: () => ({ PERSISTED_OPERATIONS: 'log', PERSISTED_OPERATIONS_FILE: manifest }),
  PERSISTED_OPERATIONS_FILE: () => ({ PERSISTED_OPERATIONS: 'log', PERSISTED_OPERATIONS_FILE: manifest }),
  PERSISTED_OPERATIONS_EXEMPT_SCOPE: () => ({ PERSISTED_OPERATIONS_EXEMPT_SCOPE: 'any-player' }),
  OTEL_EXPORTER_OTLP_ENDPOINT: () => ({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }),
};

/** The header that a caller of a gateway with these settings sends. */
function authorizationFor(env: Env): Record<string, string> {
  if (env['CLIENT_TOKENS_FILE']) return { authorization: `Bearer ${CLIENT}` };
  if (!env['JWT_ISSUER']) return {};
  return { authorization: `Bearer ${token(env['JWT_PUBLIC_KEY_FILE'] || env['JWT_JWKS_URL'] ? keySign : secretSign)}` };
}

async function startsWith(env: Env): Promise<void> {
  const gateway = await startProcess({ REST_BASE_URL: upstream.url, ...env });
  try {
    const { status, data } = await post(gateway.url, { query: '{ __typename }' }, authorizationFor(env));
    // Nothing can be verified with keys that cannot be fetched.
    if (env['JWT_JWKS_URL']) expect(status).toBe(503);
    else expect(data).toEqual({ __typename: 'Query' });
    expect(gateway.log().filter(({ level }) => level >= 50)).toEqual([]);
    gateway.child.kill('SIGTERM');
    expect(await gateway.ended).toEqual({ code: 0, signal: null });
  } finally {
    await gateway.kill();
  }
}

test.each(Object.entries(VARIABLES.shape))('%s alone', async (name, form) => {
  const value = VALUES[name];
  const usual = form.parse(undefined);
  if (!value && usual === undefined) throw new Error(`${name} has no default, and this test knows no value for it.`);
  await startsWith(value ? value() : { [name]: String(usual) });
});
