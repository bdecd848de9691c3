import { rootCertificates } from 'node:tls';
import { expect, test } from '@jest/globals';
import { VARIABLES } from '../../src/config/variables.ts';
import { newFile as file } from '../kit/at-end.ts';
import { post } from '../kit/post.ts';
import { startProcess } from '../kit/process.ts';
import { bearer, keySigner, sha256, token } from '../kit/tokens.ts';

const signer = keySigner('ES256');
const CLIENT = 'a-client-token-for-tests';
const MANIFEST = {
  format: 'apollo-persisted-query-manifest',
  version: 1,
  operations: [{ id: 'a', body: '{ me { id } }' }],
};
const CA = file('ca.pem', rootCertificates.join('\n'));
const ENV: Record<string, string> = {
  ...{ ...signer.env, NODE_ENV: 'production', REST_BASE_URL: 'https://127.0.0.1:1' },
  ...{ JWT_PUBLIC_KEY: '', JWT_PUBLIC_KEY_FILE: file('public-key', signer.verifying) },
  ...{ JWT_SCOPE_MAP: '{"reader":["players:read"]}', JWT_TYP: 'app+jwt', JWT_DEFAULT_SCOPES: 'players:read' },
  ...{ JWT_REQUIRE: 'sub=p1', JWT_SCOPE_CLAIM: '/scope', CORS_ORIGINS: 'https://app.example.com' },
  CLIENT_TOKENS_FILE: file('c.json', [{ name: 'client', sha256: sha256(CLIENT), scopes: [] }]),
  ...{ REST_API_KEY: '', REST_API_KEY_FILE: file('api-key', 'key') },
  ...{ REST_SECRET_KEY: '', REST_SECRET_KEY_FILE: file('secret-key', 'key') },
  ...{ FEDERATION: 'true', TRUST_PROXY: '1', REDIS_URL_FILE: file('redis-url', 'rediss://127.0.0.1:1') },
  ...{ LOG_KEY_FILE: file('log-key', 'a-key-of-16-characters'), REVISION: 'abc1234' },
  ...{ PERSISTED_OPERATIONS: 'log', PERSISTED_OPERATIONS_FILE: file('manifest.json', MANIFEST) },
  ...{ MAX_CONCURRENT_OPERATIONS_PER_CALLER: '10', MAX_CONCURRENT_OPERATIONS_PER_SERVER_CALLER: '100' },
  ...{ PERSISTED_OPERATIONS_EXEMPT_SCOPE: 'any-player', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' },
  ...{ HTTPS_PROXY: 'http://127.0.0.1:1', HTTP_PROXY: 'http://127.0.0.1:1', REDIS_CA_FILE: CA, REST_CA_FILE: CA },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:1/v1/traces',
};

const clientCertificate = (server: string) => [`${server}_CLIENT_CERT`, `${server}_CLIENT_KEY`];

test('the built program starts, answers and ends with every setting that has no default', async () => {
  // A gateway has one JWT key; other tests have these two, and a client certificate with its key.
  const elsewhere = ['JWT_SECRET', 'JWT_JWKS_URL', ...['REST', 'REDIS'].flatMap(clientCertificate)];
  const given = [...Object.keys(ENV).map((name) => name.replace(/_FILE$/, '')), ...elsewhere];
  const unset = Object.entries(VARIABLES.shape).filter(([, form]) => form.parse(undefined) === undefined);
  const names = unset.map(([name]) => name.replace(/_FILE$/, ''));
  expect(names.filter((name) => !given.includes(name))).toEqual([]);

  const gateway = await startProcess(ENV);
  for (const one of [token(signer), CLIENT]) {
    const { data } = await post(gateway.url, { query: '{ __typename }' }, bearer(one));
    expect(data).toEqual({ __typename: 'Query' });
  }
  expect(gateway.log().filter(({ level }) => level >= 50)).toEqual([]);
  gateway.child.kill('SIGTERM');
  expect(await gateway.ended).toEqual({ code: 0, signal: null });
});
