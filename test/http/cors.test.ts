import { describe, expect, test } from '@jest/globals';
import { startGateway, type TestGateway } from '../kit/gateway.ts';
import { raw, requestBytes } from '../kit/raw.ts';
import { secretSigner, token, UNLIMITED } from '../kit/tokens.ts';

const signer = secretSigner();
const OURS = 'https://app.example';
const STUDIO = 'https://studio.apollographql.com';
/** An application of Capacitor on iOS. */
const WEB_VIEW = 'capacitor://localhost';
const PRODUCTION = { NODE_ENV: 'production', CORS_ORIGINS: `${OURS},https://www.app.example,${WEB_VIEW}` };
const settings: Record<string, Record<string, string>> = {
  'with websites in production': PRODUCTION,
  'without websites in production': { NODE_ENV: 'production' },
  'with websites in development': { CORS_ORIGINS: OURS },
  'in development': {},
};

const gateways = new Map<string, TestGateway>();
for (const [name, env] of Object.entries(settings)) {
  gateways.set(name, await startGateway('http://127.0.0.1:9', { ...signer.env, ...UNLIMITED, ...env }));
}
const urlOf = (name: string) => gateways.get(name)?.url ?? '';

/** The status, the text, and what a browser is told: `access-control-*` without that prefix, and whether it may cache. */
async function send(name: string, init: RequestInit) {
  const response = await fetch(`${urlOf(name)}/graphql`, init);
  const told = [...response.headers].flatMap(([header, value]) =>
    header.startsWith('access-control-') ? [[header.slice('access-control-'.length), value]] : [],
  );
  const varies = /\borigin\b/i.test(response.headers.get('vary') ?? '');
  return { status: response.status, told: Object.fromEntries(told), varies, text: await response.text() };
}

const ASKED = {
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization,content-type',
};
const preflight = (name: string, origin: string) => send(name, { method: 'OPTIONS', headers: { origin, ...ASKED } });
const operation = (name: string, origin: string, authorization = `Bearer ${token(signer)}`) => {
  const headers = { origin, authorization, 'content-type': 'application/json' };
  return send(name, { method: 'POST', headers, body: '{"query":"{ __typename }"}' });
};

describe.each(['with websites in production', 'with websites in development'])('%s', (name) => {
  test('a website that is named may call, and reads what it needs, also of a refusal', async () => {
    const allowed = { 'allow-origin': OURS, 'allow-methods': 'GET,HEAD,POST', 'max-age': '600' };
    const told = { ...allowed, 'allow-headers': 'authorization,content-type' };
    expect(await preflight(name, OURS)).toMatchObject({ status: 204, told, varies: true, text: '' });
    const exposed = {
      'allow-origin': OURS,
      'expose-headers': 'x-request-id, retry-after, ratelimit, ratelimit-policy',
    };
    expect(await operation(name, OURS)).toMatchObject({ status: 200, told: exposed, varies: true });
    expect(await operation(name, OURS, 'Bearer x')).toMatchObject({ status: 401, told: exposed });
  });

  test.each(['https://app.example.other.example', 'http://app.example', 'https://app.example:444', 'null'])(
    '%s may not call',
    async (origin) => {
      expect((await preflight(name, origin)).told).not.toHaveProperty('allow-origin');
      expect((await operation(name, origin)).told).not.toHaveProperty('allow-origin');
    },
  );
});

test('the web view of an application that is named may call', async () => {
  const told = { 'allow-origin': WEB_VIEW };
  expect(await preflight('with websites in production', WEB_VIEW)).toMatchObject({ status: 204, told });
  expect(await operation('with websites in production', WEB_VIEW)).toMatchObject({ status: 200, told });
});

test.each([
  STUDIO,
  'http://localhost:3000',
  'http://shop.localhost:3000',
  'http://127.0.0.1:5173',
  'http://[::1]:5173',
])('in development %s may call', async (origin) => {
  const allowed = { 'allow-origin': origin, 'allow-headers': 'authorization,content-type' };
  expect(await preflight('in development', origin)).toMatchObject({ status: 204, told: allowed });
  expect((await operation('in development', origin)).told).toMatchObject({ 'allow-origin': origin });
});

test.each([
  'https://elsewhere.example',
  `${STUDIO}.elsewhere.example`,
  'http://localhost.elsewhere.example',
  'http://notlocalhost:3000',
])('in development %s may not', async (origin) => {
  expect((await preflight('in development', origin)).told).not.toHaveProperty('allow-origin');
});

test.each([OURS, STUDIO])('without websites in production nothing is told to %s', async (origin) => {
  const name = 'without websites in production';
  expect(await preflight(name, origin)).toMatchObject({ status: 405, told: {} });
  expect(await operation(name, origin)).toMatchObject({ status: 200, told: {}, varies: false });
});

test.each([
  ['with websites in production', 204, /^$/],
  ['without websites in production', 405, /GraphQL accepts GET and POST/],
])('%s OPTIONS that is no preflight gets %d', async (name, status, text) => {
  for (const headers of [{}, { 'access-control-request-method': 'POST' }]) {
    const answer = await send(name, { method: 'OPTIONS', headers });
    expect(answer).toMatchObject({ status, text: expect.stringMatching(text) });
    expect(answer.told).not.toHaveProperty('allow-origin');
  }
});

test.each(Object.keys(settings))('%s a refused OPTIONS is a GraphQL response', async (name) => {
  const request = requestBytes({ method: 'OPTIONS', headers: ['Host: a.example', 'Host: b.example'] });
  const { status, body } = await raw(urlOf(name), request);
  const errors = [{ message: expect.any(String), extensions: { code: 'BAD_REQUEST' } }];
  expect({ status, ...JSON.parse(body) }).toEqual({
    status: 400,
    errors,
    extensions: { requestId: expect.any(String) },
  });
});
