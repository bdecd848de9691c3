import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { VARIABLES } from '../../src/config/variables.ts';
import { post } from '../kit/gateway.ts';
import { startProcess } from '../kit/process.ts';
import { keySigner, secretSigner, token } from '../kit/tokens.ts';
import { startUpstream } from '../kit/upstream.ts';

/* The built program starts and answers with every kind of setting. */

const upstream = await startUpstream();
const folder = mkdtempSync(join(tmpdir(), 'settings-'));
afterAll(async () => {
  await upstream.close();
  rmSync(folder, { recursive: true });
});

const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const [secretSign, keySign] = [secretSigner(), keySigner('ES256')];
const CLIENT = 'a-client-token-for-tests';
const sha256 = createHash('sha256').update(CLIENT).digest('hex');
const MANIFEST = { format: 'apollo-persisted-query-manifest', version: 1, operations: [] };

/** The tokens that a gateway accepts, and its settings. Together they have every form of a setting. */
const GATEWAYS: Record<string, [token: string, env: Record<string, string>]> = {
  'every setting beside the keys of tokens': [
    token(secretSign),
    {
      ...secretSign.env,
      ...{ NODE_ENV: 'production', JWT_SECRET: '', JWT_SECRET_FILE: file('secret', secretSign.verifying) },
      ...{ JWT_SCOPE_MAP: '{"reader":["players:read"]}', JWT_TYP: 'app+jwt', JWT_DEFAULT_SCOPES: 'players:read' },
      ...{ JWT_REQUIRE: 'sub=p1', JWT_SCOPE_CLAIM: '/scope', CORS_ORIGINS: 'https://app.example.com' },
      ...{ REST_API_KEY: '', REST_API_KEY_FILE: file('api-key', 'key') },
      ...{ REST_SECRET_KEY: '', REST_SECRET_KEY_FILE: file('secret-key', 'key') },
      ...{ FEDERATION: 'true', TRUST_PROXY: '1', REDIS_URL_FILE: file('redis-url', 'redis://127.0.0.1:1') },
      ...{ PERSISTED_OPERATIONS: 'log', PERSISTED_OPERATIONS_FILE: file('manifest.json', JSON.stringify(MANIFEST)) },
      ...{ PERSISTED_OPERATIONS_EXEMPT_SCOPE: 'any-player', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' },
    },
  ],
  'a public key in a file': [
    token(keySign),
    { ...keySign.env, JWT_PUBLIC_KEY: '', JWT_PUBLIC_KEY_FILE: file('public-key', keySign.verifying) },
  ],
  'client tokens, and a key set that cannot be fetched': [
    CLIENT,
    {
      ...{ ...keySign.env, JWT_PUBLIC_KEY: '', JWT_JWKS_URL: 'http://127.0.0.1:1/keys' },
      CLIENT_TOKENS_FILE: file('c.json', JSON.stringify([{ name: 'client', sha256, scopes: [] }])),
    },
  ],
};

test.each(Object.entries(GATEWAYS))('with %s', async (_name, [bearer, env]) => {
  const gateway = await startProcess({ REST_BASE_URL: upstream.url, ...env });
  const { data } = await post(gateway.url, { query: '{ __typename }' }, { authorization: `Bearer ${bearer}` });
  expect(data).toEqual({ __typename: 'Query' });
  expect(gateway.log().filter(({ level }) => level >= 50)).toEqual([]);
  gateway.child.kill('SIGTERM');
  expect(await gateway.ended).toEqual({ code: 0, signal: null });
});

test('no setting without a default was left out', () => {
  const tried = Object.values(GATEWAYS).flatMap(([, env]) =>
    Object.keys(env).map((name) => name.replace(/_FILE$/, '')),
  );
  const known = [...tried, 'REST_BASE_URL', 'CLIENT_TOKENS_FILE'];
  const untried = Object.entries(VARIABLES.shape).filter(
    ([name, form]) => form.parse(undefined) === undefined && !known.includes(name),
  );
  expect(untried.map(([name]) => name)).toEqual([]);
});
