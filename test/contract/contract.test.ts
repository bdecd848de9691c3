import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startReference } from '../kit/reference.ts';
import { attributes } from '../kit/upstream-data.ts';
import { ERROR, OPERATIONS, violations } from './document.ts';
import { type ContractService, contractService } from './service.ts';

let service: ContractService;
/** Nobody else's, so that the suite can run against a service that is in use. */
const playerUniqueId = `contract ${randomUUID()}/ü@example.com`;
const unknownId = `contract ${randomUUID()}`;

beforeAll(async () => {
  service = await contractService();
});
afterAll(() => service.close());

const ATTRIBUTES = { ...attributes('contract'), email: `${randomUUID()}@example.com` };

/** A request of each operation, in an order in which each finds what it needs; the deletion comes last. */
const REQUESTS: Record<string, { body?: object; query?: string }> = {
  createOrUpdatePlayer: {
    body: { playerUniqueId, playerAttributes: ATTRIBUTES, deviceToken: 'token', osType: 'android' },
  },
  trackEvents: {
    body: { playerUniqueId, events: { contract_check: { number: 1, text: 'x', list: ['a', 'b'] }, bare: {} } },
  },
  getPlayer: {},
  listPlayerCoupons: {},
  listPlayerReferrals: { query: '?page=1&limit=200' },
  deletePlayer: {},
};

function operation(id: string) {
  const found = OPERATIONS.find((candidate) => candidate.id === id);
  if (!found) throw new Error(`The document has no operation ${id}`);
  return found;
}

interface Call {
  playerUniqueId?: string;
  body?: object | undefined;
  query?: string | undefined;
  headers?: Record<string, string>;
}

async function call(id: string, { body, query = '', headers = keys(), ...more }: Call = {}) {
  const { method, path } = operation(id);
  const url = `${service.url}/api/v3.0${path.replace('{playerUniqueId}', encodeURIComponent(more.playerUniqueId ?? playerUniqueId))}${query}`;
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, type: response.headers.get('content-type'), text };
}

const keys = () => ({ APIKey: service.apiKey, secretKey: service.secretKey });

describe('the wire contract', () => {
  test('has a request here for every operation of the document', () => {
    expect(Object.keys(REQUESTS).sort()).toEqual(OPERATIONS.map(({ id }) => id).sort());
  });

  test.each(Object.entries(REQUESTS))('%s succeeds with 200 and what the document says', async (id, request) => {
    const { request: requestSchema, answer: answerSchema } = operation(id);
    if (requestSchema) expect(violations(requestSchema, request.body)).toEqual([]);
    const answer = await call(id, request);
    expect({ status: answer.status, text: answer.status === 200 ? '' : answer.text }).toEqual({
      status: 200,
      text: '',
    });
    if (!answerSchema) return;
    expect(answer.type).toMatch(/^application\/json/);
    expect(violations(answerSchema, JSON.parse(answer.text))).toEqual([]);
  });

  test('a player comes back as it was sent', async () => {
    await call('createOrUpdatePlayer', REQUESTS['createOrUpdatePlayer']);
    const created = JSON.parse((await call('createOrUpdatePlayer', REQUESTS['createOrUpdatePlayer'])).text);
    const read = JSON.parse((await call('getPlayer')).text);
    expect(created).toMatchObject({ playerUniqueId, referralLink: read.referralLink });
    expect(read).toMatchObject({ playerUniqueId, playerAttributes: ATTRIBUTES });
    expect(URL.canParse(read.referralLink)).toBe(true);
    await call('deletePlayer');
  });

  test('events create a player that is not known', async () => {
    expect((await call('getPlayer')).status).toBe(404);
    expect((await call('trackEvents', REQUESTS['trackEvents'])).status).toBe(200);
    expect((await call('getPlayer')).status).toBe(200);
    await call('deletePlayer');
  });

  test('without paging it answers with page 1 of 50, and counts what it lists', async () => {
    await call('createOrUpdatePlayer', REQUESTS['createOrUpdatePlayer']);
    const [plain, explicit] = [
      await call('listPlayerReferrals'),
      await call('listPlayerReferrals', { query: '?page=1&limit=50' }),
    ];
    expect(plain).toEqual(explicit);
    const page = JSON.parse(plain.text);
    expect(page.count).toBe(page.referredFriends.length);
    expect(page.total).toBe(page.totalPending + page.totalActive);
    await call('deletePlayer');
  });
});

describe('refusals have the status and the shape of the document', () => {
  const PLAYER = { playerUniqueId: unknownId };
  test.each<[string, number, string, Call]>([
    ['a wrong API key', 401, 'getPlayer', { headers: { APIKey: 'wrong' } }],
    ['no API key', 401, 'trackEvents', { headers: {}, body: { ...PLAYER, events: { a: {} } } }],
    ['no secret key for coupons', 401, 'listPlayerCoupons', { headers: { APIKey: 'KEY' } }],
    ['no secret key for a deletion', 401, 'deletePlayer', { headers: { APIKey: 'KEY' } }],
    ['an unknown player', 404, 'getPlayer', PLAYER],
    ['coupons of an unknown player', 404, 'listPlayerCoupons', PLAYER],
    ['referrals of an unknown player', 404, 'listPlayerReferrals', PLAYER],
    ['the deletion of an unknown player', 404, 'deletePlayer', PLAYER],
    ['a player without an id', 400, 'createOrUpdatePlayer', { body: { playerAttributes: {} } }],
    ['a deviceToken without osType', 400, 'createOrUpdatePlayer', { body: { ...PLAYER, deviceToken: 'token' } }],
    ['no events', 400, 'trackEvents', { body: PLAYER }],
    ['a limit above the maximum', 400, 'listPlayerReferrals', { query: '?limit=201' }],
    ['page 0', 400, 'listPlayerReferrals', { query: '?page=0' }],
  ])('%s: %d', async (_name, status, id, { headers, ...request }) => {
    const given = headers?.['APIKey'] === 'KEY' ? { APIKey: service.apiKey } : (headers ?? keys());
    const answer = await call(id, { ...request, headers: given });
    expect({ status: answer.status, violations: violations(ERROR, JSON.parse(answer.text)) }).toEqual({
      status,
      violations: [],
    });
    if (status === 404) expect(JSON.parse(answer.text)).toMatchObject({ code: 101 });
  });
});

test('the demo player fits the contract', async () => {
  const demo = await startReference({ demo: true });
  const get = async (path: string) => {
    const headers = { APIKey: demo.apiKey, secretKey: demo.secretKey };
    return (await fetch(`${demo.url}/api/v3.0/integrations${path}`, { headers })).json();
  };
  const coupons = await get('/transactions/demo-player/coupon');
  const referrals = await get('/players/demo-player/referrals');
  await demo.close();
  expect(violations('contract#/components/schemas/CouponList', coupons)).toEqual([]);
  expect(violations('contract#/components/schemas/ReferralPage', referrals)).toEqual([]);
  expect(referrals).toMatchObject({ count: 50, total: 60, totalPending: 30, totalActive: 30 });
  expect(new Set(coupons.coupons.map(({ couponType }: { couponType: string }) => couponType)).size).toBe(6);
});
