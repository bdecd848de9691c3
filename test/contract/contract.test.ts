import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startReference } from '../kit/reference.ts';
import { attributes } from '../kit/upstream-data.ts';
import { OPERATIONS, violations } from './document.ts';

/** The service of the environment, else the reference service. This file deletes the players that it creates. */
const { CONTRACT_BASE_URL, CONTRACT_API_KEY = '', CONTRACT_SECRET_KEY = '' } = process.env;
const given = { apiKey: CONTRACT_API_KEY, secretKey: CONTRACT_SECRET_KEY, close: async () => {} };
let service: typeof given & { url: string };
beforeAll(async () => {
  service = CONTRACT_BASE_URL ? { ...given, url: CONTRACT_BASE_URL.replace(/\/+$/, '') } : await startReference();
});
afterAll(() => service.close());

/** Nobody else's, so that the file can run against a service that is in use. */
const playerUniqueId = `contract ${randomUUID()}/ü@example.com`;
const unknown = { playerUniqueId: `contract ${randomUUID()}` };
const ATTRIBUTES = { ...attributes('contract'), email: `${randomUUID()}@example.com` };
const UPSERT = { playerUniqueId, playerAttributes: ATTRIBUTES, deviceToken: 'token', osType: 'android' };
const REPORT = { playerUniqueId, events: { contract_check: { number: 1, text: 'x', list: ['a', 'b'] }, bare: {} } };

interface Call {
  playerUniqueId?: string;
  body?: object;
  query?: string;
  headers?: Record<string, string>;
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

async function call(id: string, { playerUniqueId: player = playerUniqueId, body, query = '', headers }: Call = {}) {
  const { method, path } = OPERATIONS.get(id) ?? { path: `no operation ${id}` };
  const target = path.replace('{playerUniqueId}', encodeURIComponent(player)) + query;
  const response = await fetch(`${service.url}/api/v3.0${target}`, {
    ...{ method: String(method), body: body ? JSON.stringify(body) : null },
    headers: {
      ...(headers ?? { APIKey: service.apiKey, secretKey: service.secretKey }),
      ...(body && { 'content-type': 'application/json' }),
    },
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  return { status: response.status, json: isJson ? JSON.parse(text) : undefined };
}

describe('the wire contract', () => {
  test('has a request here for every operation of the document', () => {
    expect(REQUESTS.map(([id]) => id).sort()).toEqual([...OPERATIONS.keys()].sort());
  });

  test.each(REQUESTS)('%s succeeds with 200 and what the document says', async (id, request) => {
    const schemas = OPERATIONS.get(id);
    if (schemas?.request) expect(violations(schemas.request, request.body)).toEqual([]);
    const { status, json } = await call(id, request);
    expect({ status, error: status === 200 ? undefined : json }).toEqual({ status: 200, error: undefined });
    if (schemas?.response) expect(violations(schemas.response, json)).toEqual([]);
  });

  test('a player comes back as it was sent', async () => {
    await call('createOrUpdatePlayer', { body: UPSERT });
    const { json: updated } = await call('createOrUpdatePlayer', { body: UPSERT });
    const { json: read } = await call('getPlayer');
    expect(updated).toMatchObject({ playerUniqueId, referralLink: read.referralLink });
    expect(read).toMatchObject({ playerUniqueId, playerAttributes: ATTRIBUTES });
    expect(URL.canParse(read.referralLink)).toBe(true);
    await call('deletePlayer');
  });

  test('events create a player that is not known', async () => {
    expect((await call('getPlayer')).status).toBe(404);
    expect((await call('trackEvents', { body: REPORT })).status).toBe(200);
    expect((await call('getPlayer')).status).toBe(200);
    await call('deletePlayer');
  });

  test('without paging it responds with page 1 of 50, and counts what it lists', async () => {
    await call('createOrUpdatePlayer', { body: UPSERT });
    const plain = await call('listPlayerReferrals');
    expect(plain).toEqual(await call('listPlayerReferrals', { query: '?page=1&limit=50' }));
    const { count, referredFriends, total, totalPending, totalActive } = plain.json;
    expect({ count, total }).toEqual({ count: referredFriends.length, total: totalPending + totalActive });
    await call('deletePlayer');
  });
});

describe('refusals have the status and the shape of the document', () => {
  test.each<[string, number, string, Call]>([
    ['a wrong API key', 401, 'getPlayer', { headers: { APIKey: 'wrong' } }],
    ['no API key', 401, 'trackEvents', { headers: {}, body: REPORT }],
    ['an unknown player', 404, 'getPlayer', unknown],
    ['coupons of an unknown player', 404, 'listPlayerCoupons', unknown],
    ['referrals of an unknown player', 404, 'listPlayerReferrals', unknown],
    ['the deletion of an unknown player', 404, 'deletePlayer', unknown],
    ['a player without an id', 400, 'createOrUpdatePlayer', { body: { playerAttributes: {} } }],
    ['a deviceToken without osType', 400, 'createOrUpdatePlayer', { body: { ...unknown, deviceToken: 'token' } }],
    ['no events', 400, 'trackEvents', { body: unknown }],
    ['a limit above the maximum', 400, 'listPlayerReferrals', { query: '?limit=201' }],
    ['page 0', 400, 'listPlayerReferrals', { query: '?page=0' }],
  ])('%s: %d', async (_name, status, id, request) => {
    const response = await call(id, request);
    expect({ status: response.status, wrong: violations(ERROR, response.json) }).toEqual({ status, wrong: [] });
    if (status === 404) expect(response.json).toMatchObject({ code: 101 });
  });

  test.each(['listPlayerCoupons', 'deletePlayer'])('%s without the secret key: 401', async (id) => {
    const { status, json } = await call(id, { headers: { APIKey: service.apiKey } });
    expect({ status, wrong: violations(ERROR, json) }).toEqual({ status: 401, wrong: [] });
  });
});

const ERROR = 'contract#/components/schemas/Error';

test('the demo player fits the contract', async () => {
  const demo = await startReference({ demo: true });
  const headers = { APIKey: demo.apiKey, secretKey: demo.secretKey };
  const get = async (path: string) => (await fetch(`${demo.url}/api/v3.0/integrations${path}`, { headers })).json();
  const coupons = await get('/transactions/demo-player/coupon');
  const referrals = await get('/players/demo-player/referrals');
  await demo.close();
  expect(violations('contract#/components/schemas/CouponList', coupons)).toEqual([]);
  expect(violations('contract#/components/schemas/ReferralPage', referrals)).toEqual([]);
  expect(referrals).toMatchObject({ count: 50, total: 60, totalPending: 30, totalActive: 30 });
  expect(new Set(coupons.coupons.map(({ couponType }: { couponType: string }) => couponType)).size).toBe(6);
});
