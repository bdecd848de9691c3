import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import { startReference } from '../kit/reference.ts';
import { attributes } from '../kit/upstream-data.ts';

/* The REST service of the environment, else the reference service, is as its document says. What is created is deleted. */

const { CONTRACT_BASE_URL, CONTRACT_API_KEY = '', CONTRACT_SECRET_KEY = '' } = process.env;
const given = { apiKey: CONTRACT_API_KEY, secretKey: CONTRACT_SECRET_KEY };
const service = CONTRACT_BASE_URL ? { ...given, url: CONTRACT_BASE_URL.replace(/\/+$/, '') } : await startReference();

const source = parse(readFileSync(new URL('../../schema/rest-service.openapi.yaml', import.meta.url), 'utf8'));
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ ...source, $id: 'contract' });

/** All operations of the document: id → method, path, and pointers to the schemas of their JSON bodies, if they have any. */
const OPERATIONS = new Map(
  Object.entries<object>(source.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, requestBody, responses }]) => {
      const at = `contract#/paths/${path.replaceAll('~', '~0').replaceAll('/', '~1')}/${method}`;
      const json = 'content/application~1json/schema';
      const request = requestBody && `${at}/requestBody/${json}`;
      const response = responses?.['200'].content && `${at}/responses/200/${json}`;
      return [operationId, { method: method.toUpperCase(), path, request, response }] as const;
    }),
  ),
);
OPERATIONS.delete(undefined);

/** Expects that a body is as a schema of the document says, if it has one. */
function expectValid(pointer: string | undefined, body: unknown): void {
  if (pointer === undefined) return;
  const validate = ajv.getSchema(encodeURI(pointer));
  expect([validate?.(body), validate?.errors]).toEqual([true, null]);
}

/** Nobody else's, so that the file can run against a service that is in use. */
const playerUniqueId = `contract ${randomUUID()}/ü@example.com`;
const unknown = { playerUniqueId: `contract ${randomUUID()}` };
const ATTRIBUTES = { ...attributes('contract'), email: `${randomUUID()}@example.com` };
const UPSERT = { playerUniqueId, playerAttributes: ATTRIBUTES, deviceToken: 'token', osType: 'android' };
const REPORT = { playerUniqueId, events: { contract_check: { number: 1, text: 'x', list: ['a', 'b'] }, bare: {} } };

type Call = { playerUniqueId?: string; body?: object; query?: string; headers?: Record<string, string> };

async function call(id: string, { playerUniqueId: player = playerUniqueId, body, query = '', headers }: Call = {}) {
  const { method, path } = OPERATIONS.get(id) ?? { path: `no operation ${id}` };
  const target = path.replace('{playerUniqueId}', encodeURIComponent(player)) + query;
  const keys = headers ?? { APIKey: service.apiKey, secretKey: service.secretKey };
  const response = await fetch(`${service.url}/api/v3.0${target}`, {
    ...{ method: String(method), body: body ? JSON.stringify(body) : null },
    headers: { ...keys, ...(body && { 'content-type': 'application/json' }) },
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return { status: response.status, json: isJson ? JSON.parse(text) : undefined };
}

/** A request of each operation, in an order in which each finds what it needs; the deletion comes last. */
const REQUESTS: [string, Call][] = [
  ['createOrUpdatePlayer', { body: UPSERT }],
  ['trackEvents', { body: REPORT }],
  ['getPlayer', {}],
  ['listPlayerCoupons', {}],
  ['listPlayerReferrals', { query: '?page=1&limit=200' }],
  ['deletePlayer', {}],
];

test('there is a request here for every operation of the document', () => {
  expect(REQUESTS.map(([id]) => id).sort()).toEqual([...OPERATIONS.keys()].sort());
});

test.each(REQUESTS)('%s succeeds with 200 and what the document says', async (id, request) => {
  const { status, json } = await call(id, request);
  expect({ status, error: status === 200 ? undefined : json }).toEqual({ status: 200, error: undefined });
  expectValid(OPERATIONS.get(id)?.request, request.body);
  expectValid(OPERATIONS.get(id)?.response, json);
});

test('events create a player; sent twice, it comes back as it was sent; without paging friends are page 1 of 50', async () => {
  expect((await call('getPlayer')).status).toBe(404);
  expect((await call('trackEvents', { body: REPORT })).status).toBe(200);
  expect((await call('getPlayer')).status).toBe(200);
  await call('createOrUpdatePlayer', { body: UPSERT });
  const { json: updated } = await call('createOrUpdatePlayer', { body: UPSERT });
  const { json: read } = await call('getPlayer');
  expect(updated).toMatchObject({ playerUniqueId, referralLink: read.referralLink });
  expect(read).toMatchObject({ playerUniqueId, playerAttributes: ATTRIBUTES });
  expect(URL.canParse(read.referralLink)).toBe(true);
  const plain = await call('listPlayerReferrals');
  expect(plain).toEqual(await call('listPlayerReferrals', { query: '?page=1&limit=50' }));
  const { count, referredFriends, total, totalPending, totalActive } = plain.json;
  expect({ count, total }).toEqual({ count: referredFriends.length, total: totalPending + totalActive });
  await call('deletePlayer');
});

test.each<[string, number, string, Call]>([
  ['a wrong API key', 401, 'getPlayer', { headers: { APIKey: 'wrong' } }],
  ['no secret key', 401, 'listPlayerCoupons', { headers: { APIKey: service.apiKey } }],
  ['an unknown player', 404, 'getPlayer', unknown],
  ['no events', 400, 'trackEvents', { body: unknown }],
])('%s is refused with %d, and as the document says', async (_name, status, id, request) => {
  const response = await call(id, request);
  expect(response).toMatchObject({ status, json: status === 404 ? { code: 101 } : {} });
  expectValid('contract#/components/schemas/Error', response.json);
});

(CONTRACT_BASE_URL ? test.skip : test)('the demo player has coupons of all six types, and they are valid', async () => {
  const demo = { playerUniqueId: 'demo-player' };
  const { coupons } = (await call('listPlayerCoupons', demo)).json;
  expectValid(OPERATIONS.get('listPlayerCoupons')?.response, { coupons });
  expectValid(OPERATIONS.get('listPlayerReferrals')?.response, (await call('listPlayerReferrals', demo)).json);
  expect(new Set(coupons.map(({ couponType }: { couponType: string }) => couponType)).size).toBe(6);
});
