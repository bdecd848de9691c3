import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startBoth } from '../kit/gateway.ts';
import { raw, requestBytes } from '../kit/raw.ts';
import { secretSigner, token, UNLIMITED } from '../kit/tokens.ts';

type Both = Awaited<ReturnType<typeof startBoth>>;

const signer = secretSigner();
const OURS = 'https://app.example';
const OTHERS = 'https://other.example';
const gateways = new Map<string, Both>();
const settings: [name: string, env: Record<string, string>][] = [
  ['with websites in production', { NODE_ENV: 'production', CORS_ORIGINS: `${OURS},https://www.app.example` }],
  ['without websites in production', { NODE_ENV: 'production' }],
  ['with websites in development', { CORS_ORIGINS: OURS }],
  ['in development', {}],
];

beforeAll(async () => {
  for (const [name, env] of settings) gateways.set(name, await startBoth({ ...signer.env, ...UNLIMITED, ...env }));
});
afterAll(async () => {
  for (const both of gateways.values()) await both.close();
});

/** Status, and what a browser goes by. */
async function send(name: string, { headers = {}, ...init }: RequestInit & { headers?: Record<string, string> }) {
  const response = await fetch(`${gateways.get(name)?.gateway.url}/graphql`, { ...init, headers });
  const told = ['allow-origin', 'allow-methods', 'allow-headers', 'allow-credentials', 'expose-headers', 'max-age'];
  return {
    status: response.status,
    told: Object.fromEntries(
      told.flatMap((name) => {
        const value = response.headers.get(`access-control-${name}`);
        return value === null ? [] : [[name, value]];
      }),
    ),
    vary: response.headers.get('vary')?.toLowerCase().split(/, */) ?? [],
    text: await response.text(),
  };
}

const preflight = (name: string, origin: string) =>
  send(name, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    },
  });
const operation = (name: string, origin: string, authorization = `Bearer ${token(signer)}`) =>
  send(name, {
    method: 'POST',
    headers: { origin, authorization, 'content-type': 'application/json' },
    body: '{"query":"{ __typename }"}',
  });

describe.each(['with websites in production', 'with websites in development'])('%s', (name) => {
  test('a website that is named may ask, and reads what it needs', async () => {
    expect(await preflight(name, OURS)).toMatchObject({
      status: 204,
      told: {
        'allow-origin': OURS,
        'allow-methods': 'GET,HEAD,POST',
        'allow-headers': 'authorization,content-type',
        'max-age': '600',
      },
      vary: expect.arrayContaining(['origin']),
    });
    const { status, told, vary, text } = await operation(name, OURS);
    expect({ status, told, text }).toEqual({
      status: 200,
      text: expect.stringContaining('"__typename"'),
      told: { 'allow-origin': OURS, 'expose-headers': 'x-request-id, retry-after' },
    });
    expect(vary).toContain('origin');
  });

  test('it is told why it was refused', async () => {
    const { status, told } = await operation(name, OURS, 'Bearer x');
    expect([status, told['allow-origin']]).toEqual([401, OURS]);
  });

  test.each([OTHERS, 'https://app.example.other.example', 'http://app.example', 'https://app.example:444', 'null'])(
    '%s may not',
    async (origin) => {
      expect((await preflight(name, origin)).told).not.toHaveProperty('allow-origin');
      expect((await operation(name, origin)).told).not.toHaveProperty('allow-origin');
    },
  );
});

test.each([
  ['with websites in production', 204],
  ['without websites in production', 405],
  ['with websites in development', 204],
])(
  '%s OPTIONS that is no preflight is answered with %d, and nothing of websites that did not ask',
  async (name, status) => {
    for (const headers of [{}, { 'access-control-request-method': 'POST' }]) {
      const answer = await send(name, { method: 'OPTIONS', headers });
      expect(answer).toMatchObject({
        status,
        text: status === 204 ? '' : expect.stringContaining('GraphQL accepts GET and POST'),
      });
      expect(answer.told).not.toHaveProperty('allow-origin');
    }
    expect((await send(name, { method: 'OPTIONS', headers: { origin: OURS } })).status).toBe(status);
  },
);

test.each(['https://studio.apollographql.com', 'http://localhost:3000', 'http://127.0.0.1:5173'])(
  'in development %s may ask, with the headers that it names',
  async (origin) => {
    const allowed = { 'allow-origin': origin, 'allow-headers': 'authorization,content-type' };
    expect(await preflight('in development', origin)).toMatchObject({ status: 204, told: allowed });
    expect((await operation('in development', origin)).told).toMatchObject({ 'allow-origin': origin });
  },
);

test.each(['https://elsewhere.example', 'https://studio.apollographql.com.elsewhere.example', 'null'])(
  'in development %s may not',
  async (origin) => {
    expect((await preflight('in development', origin)).told).not.toHaveProperty('allow-origin');
  },
);

test('without websites in production nothing is said of them', async () => {
  const name = 'without websites in production';
  for (const origin of [OURS, OTHERS, 'https://studio.apollographql.com']) {
    expect(await preflight(name, origin)).toMatchObject({ status: 405, told: {} });
    const { status, told, vary } = await operation(name, origin);
    expect({ status, told, vary: vary.includes('origin') }).toEqual({ status: 200, told: {}, vary: false });
  }
});

test.each(settings.map(([name]) => name))('%s OPTIONS is refused in the shape of every refusal', async (name) => {
  const headers = ['Host: a.example', 'Host: b.example'];
  const { status, body } = await raw(
    gateways.get(name)?.gateway.url ?? '',
    requestBytes({ method: 'OPTIONS', headers }),
  );
  expect({ status, ...JSON.parse(body) }).toEqual({
    status: 400,
    errors: [{ message: expect.any(String), extensions: { code: 'BAD_REQUEST' } }],
    extensions: { requestId: expect.any(String) },
  });
});
