import { beforeEach, describe, expect, test } from '@jest/globals';
import { newFile } from '../kit/at-end.ts';
import { startBoth, startGateway, type TestGateway } from '../kit/gateway.ts';
import { post } from '../kit/post.ts';
import { bearer, now, secretSigner, sha256, token, UNLIMITED } from '../kit/tokens.ts';
import { coupons, friend } from '../kit/upstream-data.ts';

let both: Awaited<ReturnType<typeof startBoth>>;
beforeEach(async () => {
  both = await startBoth({ ...UNLIMITED, MAX_COMPLEXITY: '100000', MAX_TOKENS: '10000', SLOW_OPERATION_MS: '60000' });
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into lines of every shape.
const linesOf = (gateway: TestGateway): any[] => JSON.parse(`[${gateway.logged().trim().replaceAll('\n', ',')}]`);
const operationsOf = (gateway: TestGateway) => linesOf(gateway).filter(({ msg }) => msg === 'operation');
const callsThatFailed = (gateway: TestGateway) => linesOf(gateway).filter(({ msg }) => msg === 'upstream call failed');

const PLAYER = 'player(playerUniqueId: "p1") { id }';
const COUPONS = '{ player(playerUniqueId: "p1") { referralLink coupons { code } } }';
const SCREEN = `query Screen ${COUPONS.replace('coupons', 'referredFriends { total } coupons')}`;
const PART = `query Part { ${PLAYER} players(playerUniqueIds: [""]) { id } }`;
const SAVE = 'mutation Save { upsertPlayer(input: { playerUniqueId: ".." }) { userErrors { code } } }';
const UNSELECTED = SAVE.replace('{ code }', '{ code: message }').replace('{ userErrors', '{ errors: userErrors');
const INFO = 30;
const HASHED = expect.stringMatching(/^hmac:[\da-f]{16}$/);

describe('the log line of an operation', () => {
  const ok = { status: 200, outcome: 'OK' };
  test.each<[name: string, query: string, line: Record<string, unknown>]>([
    ['a named query', SCREEN, { operation: 'Screen', type: 'query', upstreamCalls: 3, ...ok }],
    ['a query without a name', `{ ${PLAYER} }`, { type: 'query', upstreamCalls: 1, ...ok }],
    ['a user error', SAVE, { operation: 'Save', type: 'mutation', upstreamCalls: 0, userErrors: ['INVALID'], ...ok }],
    ['a user error whose code is not selected', UNSELECTED, { type: 'mutation', userErrors: ['INVALID'], ...ok }],
    ['a part that fails', PART, { operation: 'Part', type: 'query', status: 200, outcome: 'BAD_USER_INPUT' }],
    ['a query that is not valid', 'query Bad { nothing }', { status: 400, outcome: 'GRAPHQL_VALIDATION_FAILED' }],
    ['no query at all', '{', { upstreamCalls: 0, status: 400, outcome: 'GRAPHQL_PARSE_FAILED' }],
  ])('%s', async (_name, query, line) => {
    const headers = { 'apollographql-client-name': '"><script>' };
    const { text, headers: sent } = await both.gateway.query(query, {}, headers);
    const always = { level: INFO, caller: 'development', requestId: sent.get('x-request-id'), ms: expect.any(Number) };
    const logged = { ...line, ...always, bytes: Buffer.byteLength(text) };
    expect(operationsOf(both.gateway)).toEqual([expect.objectContaining(logged)]);
    // A name of another form than clients have; the calls of an operation that is not slow.
    for (const absent of ['client', 'calls']) expect(operationsOf(both.gateway)[0]).not.toHaveProperty(absent);
  });

  test('is there when its first error is OVERLOADED: another write of it was done', async () => {
    const gateway = await startGateway(both.upstream.url, { REDIS_URL: 'redis://127.0.0.1:1' });
    const keyed =
      'trackEvents(input: { playerUniqueId: "p1", events: [{ name: "a" }], idempotencyKey: "k" }) { eventNames }';
    const { codes } = await gateway.query(
      `mutation { ${keyed} upsertPlayer(input: { playerUniqueId: "p1" }) { serviceId } }`,
    );
    expect(codes).toEqual(['OVERLOADED']);
    expect(operationsOf(gateway)).toMatchObject([
      { level: INFO, outcome: 'OVERLOADED', upstreamCalls: 1, status: 200 },
    ]);
  });

  test('has the bytes of a long response too', async () => {
    const displayName = 'x'.repeat(500);
    const referredFriends = Array.from({ length: 200 }, (_, n) => ({ playerUniqueId: `f${n}`, displayName }));
    both.upstream.on('GET /referrals', { json: { referredFriends, total: 200 } });
    const friends = 'referredFriends(limit: 200) { nodes { displayName } }';
    const { text } = await both.gateway.query(`{ player(playerUniqueId: "p1") { ${friends} } }`);
    expect(text.length).toBeGreaterThan(100_000);
    expect(operationsOf(both.gateway)).toMatchObject([{ bytes: Buffer.byteLength(text), status: 200 }]);
  });

  test('has the trace, the document, the client, and the REST calls of a slow operation', async () => {
    const gateway = await startGateway(both.upstream.url, { SLOW_OPERATION_MS: '1' });
    const held = both.upstream.hold('GET /player');
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const client = { 'apollographql-client-name': 'shop app', 'apollographql-client-version': '2.1.0' };
    const query = `query Slow { ${PLAYER} }`;
    const slow = gateway.query(query, {}, { traceparent: `00-${traceId}-b7ad6b7169203331-01`, ...client });
    await held.arrived;
    held.release();
    await slow;
    const times = { ms: expect.any(Number), queueMs: expect.any(Number) };
    const calls = [{ call: 'GET /integrations/player/{playerUniqueId}', status: 200, ...times }];
    const line = { traceId, hash: sha256(query).slice(0, 16), client: 'shop app@2.1.0', calls };
    expect(operationsOf(gateway)).toEqual([expect.objectContaining(line)]);
  });

  test('requests that never become operations have one too', async () => {
    const refused = [
      ['{', 'application/json', 400],
      ['{}', 'application/json', 400],
      ['{}', 'text/plain', 415],
    ] as const;
    const lines: object[] = [];
    for (const [body, type, status] of refused) {
      const init = { method: 'POST', body, headers: { 'content-type': type } };
      const text = await (await fetch(`${both.gateway.url}/graphql`, init)).text();
      lines.push(expect.objectContaining({ status, outcome: 'BAD_REQUEST', bytes: Buffer.byteLength(text) }));
    }
    expect(operationsOf(both.gateway)).toEqual(lines);
  });

  test('has the name of the caller, never the token; a player is a keyed hash', async () => {
    const signer = secretSigner();
    const gateway = await startGateway(both.upstream.url, signer.env);
    const tokens = ['ada@example.com', '+44123456789'].map((sub) => token(signer, { sub }));
    for (const one of [...tokens, 'forged']) await gateway.query(`{ ${PLAYER} }`, {}, bearer(one));
    const callers = operationsOf(gateway).map(({ caller, outcome }) => [caller, outcome]);
    const known = [HASHED, 'OK'];
    expect(callers).toEqual([known, known, [undefined, 'UNAUTHENTICATED']]);
    for (const secret of [...tokens, 'forged', 'ada@example.com', '+44123456789']) {
      expect(gateway.logged()).not.toContain(secret);
    }
  });
});

describe('who is behind a line', () => {
  const signer = secretSigner();
  const as = (sub: string, scope = 'players:read') => bearer(token(signer, { sub, scope }));
  const lineOf = (gateway: TestGateway) => operationsOf(gateway).at(-1);

  test('names of players are the same after REST_API_KEY has changed, with a LOG_KEY of their own', async () => {
    const nameWith = async (env: Record<string, string>) => {
      const gateway = await startGateway(both.upstream.url, { ...signer.env, ...env });
      await gateway.query(`{ ${PLAYER} }`, {}, as('p1'));
      return lineOf(gateway).caller;
    };
    const LOG_KEY = 'a-key-for-the-names-in-the-log';
    const names = [{ LOG_KEY }, { LOG_KEY, REST_API_KEY: 'renewed' }, {}, { REST_API_KEY: 'renewed' }].map(nameWith);
    const [first, second, ...others] = await Promise.all(names);
    expect([first, second]).toEqual([HASHED, first]);
    expect(new Set([first, ...others]).size).toBe(3);
  });

  test('a server has at most five of the players that its operation is about, by the names of their own lines', async () => {
    const gateway = await startGateway(both.upstream.url, signer.env);
    await gateway.query(`{ ${PLAYER} }`, {}, as('p1'));
    const own = lineOf(gateway);
    expect(own).not.toHaveProperty('players');
    const many = `{ players(playerUniqueIds: ["p1", ${[2, 3, 4, 5, 6, 7].map((n) => `"p${n}"`)}]) { attributes { city } } }`;
    await gateway.query(many, {}, as('shop', 'players:read any-player'));
    expect(lineOf(gateway).players).toEqual([own.caller, ...Array(4).fill(HASHED)]);
  });

  test('a REST call that failed has the caller', async () => {
    const gateway = await startGateway(both.upstream.url, signer.env);
    both.upstream.on('GET /player', { status: 400 });
    await gateway.query('{ me { attributes { city } } }', {}, as('p1'));
    expect(callsThatFailed(gateway)).toMatchObject([{ caller: lineOf(gateway).caller }]);
  });

  test.each([
    [
      'has too many aliases',
      'OPERATION_TOO_COMPLEX',
      {},
      `query Wide { ${Array.from({ length: 40 }, (_, i) => `a${i}: ${PLAYER}`).join(' ')} }`,
    ],
    ['has too many tokens', 'OPERATION_TOO_COMPLEX', { MAX_TOKENS: '20' }, `query Wide { ${PLAYER.repeat(5)} }`],
    ['is in no manifest', 'OPERATION_NOT_ALLOWED', { PERSISTED_OPERATIONS: 'enforce' }, `query Wide { ${PLAYER} }`],
  ])('an operation that is refused because it %s has its name, hash and client', async (_why, code, env, query) => {
    const manifest = newFile('operations.json', { a: '{ me { id } }' });
    const gateway = await startGateway(both.upstream.url, { ...env, PERSISTED_OPERATIONS_FILE: manifest });
    await post(gateway.url, { query }, { 'apollographql-client-name': 'kiosk', 'apollographql-client-version': '7' });
    const refused = { outcome: code, operation: 'Wide', hash: sha256(query).slice(0, 16), client: 'kiosk@7' };
    expect(operationsOf(gateway)).toEqual([expect.objectContaining(refused)]);
  });

  test.each([
    ['extensions', (id: string) => ({ extensions: { persistedQuery: { version: 1, sha256Hash: id } } })],
    ['documentId', (id: string) => ({ documentId: `sha256:${id}` })],
  ])('an operation that is refused by its id in %s has the id as hash, and its name', async (_place, by) => {
    const manifest = newFile('operations.json', { a: '{ me { id } }' });
    const env = { PERSISTED_OPERATIONS: 'enforce', PERSISTED_OPERATIONS_FILE: manifest };
    const gateway = await startGateway(both.upstream.url, env);
    const id = sha256('query Shelf { me { id } }');
    await post(gateway.url, { ...by(id), operationName: 'Shelf' });
    await post(gateway.url, by(id));
    const refused = { outcome: 'OPERATION_NOT_ALLOWED', hash: id.slice(0, 16) };
    expect(operationsOf(gateway)).toMatchObject([{ ...refused, operation: 'Shelf' }, refused]);
    expect(operationsOf(gateway)[1]).not.toHaveProperty('operation');
  });

  test.each([
    ['false', HASHED],
    ['true', '203.0.113.7'],
  ])('with LOG_ADDRESSES=%s, requests that are 401 or 429 have the address as %s', async (LOG_ADDRESSES, address) => {
    const limit = { MAX_FAILED_AUTHENTICATIONS_PER_SECOND: '1', MAX_FAILED_AUTHENTICATIONS_BURST: '2' };
    const env = { ...signer.env, ...limit, LOG_ADDRESSES, TRUST_PROXY: 'true' };
    const gateway = await startGateway(both.upstream.url, env);
    const from = { 'x-forwarded-for': '203.0.113.7' };
    for (let i = 0; i < 6; i += 1) await gateway.query(`{ ${PLAYER} }`, {}, from);
    const lines = operationsOf(gateway);
    expect(new Set(lines.map(({ status }) => status))).toEqual(new Set([401, 429]));
    expect(lines.map((line) => line.address)).toEqual(Array(6).fill(address));
    await gateway.query(`{ ${PLAYER} }`, {}, { ...as('p1'), 'x-forwarded-for': '203.0.113.8' });
    expect(lineOf(gateway)).not.toHaveProperty('address');
  });
});

test('every deletePlayer has a line of audit: caller, player and outcome', async () => {
  const failed = { status: 500, raw: '' };
  both.upstream.on('DELETE /player', failed, failed, failed, 'usual');
  const remove = (id: string) =>
    `mutation { deletePlayer(input: { playerUniqueId: "${id}" }) { deletedPlayerUniqueId } }`;
  for (const id of ['p1', 'p2', 'nobody', '..', 'ada@shop.example']) await both.gateway.query(remove(id));
  const audits = linesOf(both.gateway).filter(({ audit }) => audit === 'deletePlayer');
  const outcomes = ['UNKNOWN', 'DELETED', 'NOT_FOUND', 'REFUSED', 'NOT_FOUND'];
  const always = { caller: 'development', player: HASHED };
  expect(audits).toMatchObject(outcomes.map((outcome) => ({ ...always, outcome })));
});

test.each([
  ['error', ['DELETED']],
  ['silent', []],
])('LOG_LEVEL=%s: the log has of a deletion only its line of audit, if any', async (LOG_LEVEL, outcomes) => {
  const gateway = await startGateway(both.upstream.url, { LOG_LEVEL });
  await gateway.query('mutation { deletePlayer(input: { playerUniqueId: "p1" }) { deletedPlayerUniqueId } }');
  expect(linesOf(gateway).map(({ audit, outcome, level }) => [audit, outcome, level])).toEqual(
    outcomes.map((outcome) => ['deletePlayer', outcome, 30]),
  );
});

test('a deletion under a condition is refused with its own error, and has a line of audit', async () => {
  const gateway = await startGateway(both.upstream.url, { MAX_COMPLEXITY: '200' });
  const send = async (declared: string, fields: string) => {
    const refused = await gateway.query(`mutation (${declared}) { ${fields} }`, {});
    expect(refused.status).toBe(400);
    const audit = linesOf(gateway).filter(({ audit }) => audit === 'deletePlayer');
    return [refused.errors[0]?.message, ...audit.map(({ outcome, player }) => [outcome, player])];
  };
  const remove = (condition: string) => `deletePlayer(input: $input) ${condition} { deletedPlayerUniqueId }`;
  const noInput = 'Variable "$input" of required type "DeletePlayerInput!" was not provided.';
  const input = '$input: DeletePlayerInput!';
  expect(await send(`$skip: Boolean = false, ${input}`, remove('@skip(if: $skip)'))).toEqual([
    noInput,
    ['REFUSED', undefined],
  ]);
  const noCondition = 'Variable "$skip" of required type "Boolean!" was not provided.';
  expect((await send(`$skip: Boolean!, ${input}`, remove('@skip(if: $skip)'))).slice(0, 1)).toEqual([noCondition]);
  const many = Array.from({ length: 10 }, (_, n) => `a${n}: ${remove('')}`).join(' ');
  const found = await send('$input: DeletePlayerInput! = { playerUniqueId: "p1" }', many);
  expect(found.slice(1)).toEqual([...Array(2).fill(['REFUSED', undefined]), ...Array(10).fill(['REFUSED', HASHED])]);
});

test('a deletion that is written twice is one, so a refused operation cannot fill the log', async () => {
  const remove = 'deletePlayer(input: $input) { deletedPlayerUniqueId }';
  const twice = `mutation ($input: DeletePlayerInput!) { ${remove} ${remove} other: ${remove} ...Again } fragment Again on Mutation { ${remove} }`;
  const of = async (input: unknown) => {
    const gateway = await startGateway(both.upstream.url);
    const { status } = await gateway.query(twice, { input });
    return [status, linesOf(gateway).filter(({ audit }) => audit === 'deletePlayer').length];
  };
  expect(await of({ playerUniqueId: 'p8' })).toEqual([200, 2]);
  expect(await of(5)).toEqual([400, 2]);
});

test('of a document with several operations, only the deletions of the requested one have a line of audit', async () => {
  const remove = 'deletePlayer(input: { playerUniqueId: "p9" })';
  const query = `
    mutation Asked($never: Boolean!) { first: ${remove} @skip(if: $never) { ...Gone } }
    mutation Other { ...Two ${remove} { ...Gone } }
    fragment Two on Mutation { second: ${remove} { ...Gone } }
    fragment Gone on DeletePlayerPayload { deletedPlayerUniqueId }`;
  const { status } = await post(both.gateway.url, { query, operationName: 'Asked' });
  const audits = linesOf(both.gateway).filter(({ audit }) => audit === 'deletePlayer');
  expect([status, audits.map(({ outcome }) => outcome)]).toEqual([400, ['REFUSED']]);
});

test('a deletion that is refused, or whose outcome nobody knows, has a line of audit too', async () => {
  const { signer, upstream } = { signer: secretSigner(), upstream: both.upstream };
  const gateway = await startGateway(upstream.url, { ...signer.env, REST_TIMEOUT_MS: '300', MAX_COMPLEXITY: '200' });
  const remove = (input: string) => `deletePlayer(input: ${input}) { deletedPlayerUniqueId }`;
  const as = (scope: string) => bearer(token(signer, { sub: 'p1', scope }));
  const audit = () => linesOf(gateway).filter(({ audit }) => audit === 'deletePlayer');
  const own = remove('{ playerUniqueId: "p1" }');
  await gateway.query(`mutation { ${own} other: ${remove('{ playerUniqueId: "p2" }')} }`, {}, as('players:read'));
  await gateway.query(`mutation { ${remove('{ playerUniqueId: "p2" }')} }`, {}, as('players:delete'));
  const aliases = Array.from({ length: 10 }, (_, i) => `a${i}: ${own}`).join(' ');
  expect((await gateway.query(`mutation { ${aliases} }`, {}, as('players:delete'))).status).toBe(400);
  const wrong =
    'mutation ($id: ID!) { ...Two } fragment Two on Mutation { deletePlayer(input: { playerUniqueId: $id }) { userErrors { code } } }';
  expect((await gateway.query(wrong, { id: {} }, as('players:delete'))).status).toBe(400);
  upstream.on('DELETE /player', { fault: 'hang' });
  const { errors } = await gateway.query(`mutation { ${own} }`, {}, as('players:delete'));
  expect(errors[0]?.extensions).toMatchObject({ outcome: 'UNKNOWN' });
  expect(upstream.calls()).toEqual(['DELETE /integrations/player/p1']);
  await upstream.stop();
  await gateway.query(`mutation { ${own} }`, {}, as('players:delete'));
  expect(audit().map(({ outcome }) => outcome)).toEqual([...Array(14).fill('REFUSED'), 'UNKNOWN', 'FAILED']);
  const [first, second] = audit();
  expect([first?.['player'], second?.['player']]).toEqual([HASHED, HASHED]);
});

describe('a failed call of the REST service', () => {
  test('is logged once under the id the client got; of what the service said only status and code', async () => {
    both.upstream.on('GET /coupon', { status: 422, json: { code: 9, message: 'ada@example.com is not wanted' } });
    const { headers, text } = await both.gateway.query(COUPONS);
    const requestId = headers.get('x-request-id');
    const line = { level: 40, requestId, code: 'UPSTREAM_REJECTED', upstreamStatus: 422, upstreamCode: 9 };
    expect(callsThatFailed(both.gateway)).toEqual([expect.objectContaining(line)]);
    expect(both.gateway.logged() + text).not.toMatch(/ada@example|not wanted/);
    await both.upstream.stop();
    await both.gateway.query(`{ ${PLAYER} }`);
    expect(callsThatFailed(both.gateway)[1]).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', cause: 'ECONNREFUSED' });
  });

  test('is logged once, however many fields of the operation need it, compiled or not', async () => {
    both.upstream.on('GET /coupon', { status: 400, json: { code: 9 } });
    const query = '{ me { all: coupons { code } used: coupons(filter: { isUsed: true }) { code } } }';
    for (let time = 1; time <= 6; time += 1) {
      expect((await both.gateway.query(query)).codes).toEqual(['UPSTREAM_REJECTED', 'UPSTREAM_REJECTED']);
      expect(callsThatFailed(both.gateway)).toHaveLength(time);
    }
  });

  test('is the outcome of its operation, whatever other fields are refused before it', async () => {
    both.upstream.on('GET /coupon', { status: 400, json: { code: 9 } });
    const { codes } = await both.gateway.query('{ me { referredFriends(limit: 0) { total } coupons { code } } }');
    expect(codes).toEqual(['BAD_USER_INPUT', 'UPSTREAM_REJECTED']);
    const line = linesOf(both.gateway).findLast(({ msg }) => msg === 'operation');
    expect(line).toMatchObject({ outcome: 'UPSTREAM_REJECTED', codes: ['UPSTREAM_REJECTED', 'BAD_USER_INPUT'] });
    expect(await both.gateway.metrics()).toContain('outcome="UPSTREAM_REJECTED"');
  });

  test('of a write whose input the service refuses, a user error for the client, is logged too', async () => {
    both.upstream.on('POST /player', { status: 400, json: { code: 5, message: 'jane@example.com lacks a name' } });
    const upsert =
      'upsertPlayer(input: { playerUniqueId: "p1", attributes: { city: "Oslo" } }) { userErrors { code } }';
    const { text, headers } = await both.gateway.query(`mutation { ${upsert} }`);
    expect(text).toContain('REJECTED');
    const line = { level: 40, requestId: headers.get('x-request-id'), upstreamStatus: 400, upstreamCode: 5 };
    expect(callsThatFailed(both.gateway)).toEqual([expect.objectContaining(line)]);
    expect(both.gateway.logged() + text).not.toMatch(/jane@example|lacks a name/);
  });

  test('causes no warning while the breaker is open and nothing is sent', async () => {
    const { gateway, upstream } = both;
    upstream.on('GET /player', { status: 500 });
    const read = (id: number) => gateway.query(`{ player(playerUniqueId: "failing-${id}") { referralLink } }`);
    const warnings = () => callsThatFailed(gateway).filter(({ level }) => level > INFO);
    for (let id = 0; id < 10; id += 1) await read(id);
    const before = warnings().length;
    upstream.forget();
    for (let id = 10; id < 15; id += 1) await read(id);
    // On a busy machine the breaker may be half-open meanwhile.
    expect(upstream.calls().length).toBeLessThan(5);
    expect(warnings()).toHaveLength(before + upstream.calls().length);
  });

  test('causes no warning when the client disconnected: the line of its operation says so', async () => {
    const { gateway, upstream } = both;
    upstream.on('GET /player', { fault: 'hang' });
    const client = new AbortController();
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, signal: client.signal };
    const asked = fetch(`${gateway.url}/graphql`, { ...init, body: JSON.stringify({ query: `{ ${PLAYER} }` }) });
    await upstream.received(1);
    client.abort();
    await expect(asked).rejects.toThrow();
    await upstream.requests[0]?.gone;
    // A request that is answered later than the first.
    await gateway.query('{ __typename }');
    const [line] = operationsOf(gateway);
    expect(line).toMatchObject({ upstreamCalls: 1, outcome: 'CANCELLED' });
    expect(linesOf(gateway).filter(({ level }) => level > INFO)).toEqual([]);
  });
});

describe('what goes upstream', () => {
  const GIVEN = '0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  test.each<[name: string, traceparent: string, passed: string | undefined]>([
    ['is passed on', `00-${GIVEN}`, `00-${GIVEN}`],
    ['is passed on from a later version', `01-${GIVEN}-more`, `00-${GIVEN}`],
    ['is dropped when it is too long', `00-${GIVEN}-more`, undefined],
    ['is dropped when the trace is all zeros', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`, undefined],
  ])('traceparent %s', async (_name, traceparent, passed) => {
    await both.gateway.query(`{ ${PLAYER} }`, {}, { traceparent, tracestate: 'congo=t61rcWkgMzE' });
    const { headers = {} } = both.upstream.requests[0] ?? {};
    expect([headers['traceparent'], headers['tracestate']]).toEqual([passed, passed && 'congo=t61rcWkgMzE']);
  });

  test.each([
    ['is taken over when it is well-formed', 'checkout-0815', /^checkout-0815$/],
    ['is made up otherwise', 'a b"\\n', /^[\da-f-]{36}$/],
  ])('x-request-id %s', async (_name, given, passed) => {
    const { headers, extensions } = await both.gateway.query(`{ ${PLAYER} }`, {}, { 'x-request-id': given });
    const id = headers.get('x-request-id');
    expect(id).toMatch(passed);
    expect(both.upstream.requests[0]?.headers['x-request-id']).toBe(id);
    expect(extensions['requestId']).toBe(id);
  });
});

describe('metrics', () => {
  /** The value of one line of the page. */
  const valueIn = (page: string, line: string) => Number(page.split(`\n${line} `)[1]?.split('\n')[0]);
  const PLAYERS = 'endpoint="GET /integrations/player/{playerUniqueId}"';

  test('operations by name and outcome, their names bounded', async () => {
    const { gateway } = both;
    for (let i = 0; i < 105; i += 1) await gateway.query(`query Named${i} { ${PLAYER} }`);
    const page = await gateway.metrics();
    const names = new Set(page.match(/(?<=gateway_operations_total\{operation=")[^"]+/g));
    expect(names.size).toBe(101);
    expect(valueIn(page, 'gateway_operations_total{operation="other",type="query",outcome="OK"}')).toBe(5);
    expect(valueIn(page, 'gateway_operations_total{operation="Named0",type="query",outcome="OK"}')).toBe(1);
    expect(valueIn(page, 'gateway_operation_duration_seconds_count{operation="other",type="query"}')).toBe(5);
  });

  test('names of one player, of callers without a token and of over 64 characters get no label', async () => {
    const signer = secretSigner();
    const gateway = await startGateway(both.upstream.url, signer.env);
    const ask = (name: string, jwt: string) => gateway.query(`query ${name} { ${PLAYER} }`, {}, bearer(jwt));
    const playerOf = (sub: string) => token(signer, { sub, scope: 'players:read' });
    await ask('Intruder', 'forged');
    await ask('L'.repeat(65), token(signer));
    for (const sub of ['p1', 'p1', 'p1']) await ask('OfOne', playerOf(sub));
    for (const sub of ['p1', 'p2', 'p3']) await ask('OfThree', playerOf(sub));
    await ask('OfServer', token(signer));
    const page = await gateway.metrics();
    const labels = new Set(page.match(/(?<=operation=")[^"]+/g));
    expect(labels).toEqual(new Set(['none', 'other', 'OfThree', 'OfServer']));
  });

  test('operations in flight; durations are in seconds, in the sum and in the buckets', async () => {
    const { gateway, upstream } = both;
    const held = upstream.hold('GET /player');
    const timed = gateway.query(`query Timed { ${PLAYER} }`);
    await held.arrived;
    expect(valueIn(await gateway.metrics(), 'gateway_operations_active')).toBe(1);
    held.release();
    const { extensions } = await timed;
    const page = await gateway.metrics();
    expect(valueIn(page, 'gateway_operations_active')).toBe(0);
    const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
    const secondsOf = (name: string, labels: string) => {
      const seconds = valueIn(page, `${name}_sum{${labels}}`);
      const buckets = bounds.map((bound) => valueIn(page, `${name}_bucket{le="${bound}",${labels}}`));
      expect(buckets).toEqual(bounds.map((bound) => (seconds <= bound ? 1 : 0)));
      return seconds;
    };
    const operation = secondsOf('gateway_operation_duration_seconds', 'operation="Timed",type="query"');
    expect(operation * 1_000).toBeCloseTo(operationsOf(gateway)[0].ms, 0);
    const request = secondsOf('rest_request_duration_seconds', `${PLAYERS},status="200"`);
    expect(request).toBeGreaterThan(0);
    expect(request * 1_000).toBeLessThan(Object(extensions['upstream'])[0].ms + 1);
  });

  test('REST calls by endpoint, status and outcome, retries, batches and values that cannot be read', async () => {
    const { gateway, upstream } = both;
    upstream.on('GET /player', { status: 503 }, 'usual');
    upstream.on('GET /coupon', { json: { coupons: [{ ...coupons('p1')[0], couponType: 'novel', endAt: 'soon' }] } });
    upstream.on('GET /referrals', { json: { referredFriends: [{ ...friend(1), status: 'lost' }] } });
    await gateway.query(`{ ${PLAYER} }`);
    await gateway.query(`{ players(playerUniqueIds: ["p2", "p3"]) { id }
      player(playerUniqueId: "p1") { coupons { couponType endAt } referredFriends { nodes { status } } } }`);
    const page = await gateway.metrics();
    expect(valueIn(page, `rest_request_duration_seconds_count{${PLAYERS},status="503"}`)).toBe(1);
    expect(valueIn(page, `rest_request_duration_seconds_count{${PLAYERS},status="200"}`)).toBe(3);
    expect(valueIn(page, `rest_retries_total{${PLAYERS}}`)).toBe(1);
    expect(valueIn(page, `rest_calls_total{${PLAYERS},outcome="OK"}`)).toBe(3);
    expect(valueIn(page, 'rest_breaker{endpoint="POST /integrations/player",state="closed"}')).toBe(1);
    expect(valueIn(page, 'gateway_loader_batch_size_sum{loader="players"}')).toBe(3);
    expect(page).toMatch(/rest_decode_warnings_total\{kind="unknown-enum-value",member="[\w.]*couponType"\} 1/);
    expect(page).toMatch(/rest_decode_warnings_total\{kind="unknown-enum-value",member="[\w.]*status"\} 1/);
    expect(page).toMatch(/rest_decode_warnings_total\{kind="undecodable-date",member="[\w.]*endAt"\} 1/);
    expect(page).not.toMatch(/novel|soon|lost/);
  });

  test('rejected tokens by reason, which no response shows', async () => {
    const signer = secretSigner();
    const gateway = await startGateway(both.upstream.url, { ...signer.env, NODE_ENV: 'production' });
    const tokens: Record<string, Record<string, string>> = {
      missing: {},
      malformed: bearer('no-jwt'),
      signature: bearer(secretSigner()),
      audience: bearer(signer, { aud: 'somebody else' }),
      lifetime: bearer(signer, { exp: now() + 10 * 86_400 }),
      expired: bearer(signer, { exp: now() - 3_600 }),
    };
    const answers = new Set<string>();
    for (const headers of Object.values(tokens)) {
      const { status, errors } = await gateway.query(`{ ${PLAYER} }`, {}, headers);
      answers.add(`${status} ${JSON.stringify(errors)}`);
    }
    expect(answers.size).toBe(1);
    const page = await gateway.metrics();
    const counts = Object.keys(tokens).map((reason) => `gateway_authentication_failures_total{reason="${reason}"} 1`);
    expect(counts.filter((line) => !page.includes(`\n${line}\n`))).toEqual([]);
  });

  test('persisted queries by what was found', async () => {
    const { gateway } = both;
    const query = `query Kept { ${PLAYER} }`;
    const persistedQuery = { version: 1, sha256Hash: sha256(query) };
    const byHash = { extensions: { persistedQuery } };
    const byId = { documentId: 'unknown' };
    for (const body of [byHash, byId, { query, ...byHash }, byHash, byHash]) await post(gateway.url, body);
    const page = await gateway.metrics();
    const results = ['unknown', 'sent', 'registered'];
    const counts = results.map((result) => valueIn(page, `gateway_persisted_queries_total{result="${result}"}`));
    expect(counts).toEqual([2, 1, 2]);
  });
});

test('extensions show the REST calls and the plan in development, and nothing in production', async () => {
  const { extensions, text } = await both.gateway.query(COUPONS);
  const templates = ['/integrations/player/{playerUniqueId}', '/integrations/transactions/{playerUniqueId}/coupon'];
  const times = { startMs: expect.any(Number), ms: expect.any(Number), queueMs: expect.any(Number) };
  const result = { status: 200, attempts: 1, outcome: 'OK' };
  const calls = ['getPlayer', 'listPlayerCoupons'].map((operation, at) => {
    return { method: 'GET', template: templates[at], operation, ...times, ...result };
  });
  expect(extensions['upstream']).toHaveLength(2);
  expect(extensions['upstream']).toEqual(expect.arrayContaining(calls));
  expect(extensions['plan']).toEqual({
    engine: 'graphql-js',
    scopes: ['players:read', 'coupons:read'],
    fields: { getPlayer: ['Query.player', 'Player.referralLink'], listPlayerCoupons: ['Player.coupons'] },
    notCompiled: 'a string literal, also as the default of a variable: send it in the variables',
  });
  expect(text).not.toContain('-key-for-tests');

  const query = `query Ids($id: ID!) { player(playerUniqueId: $id) { id } }
    query Shop($id: ID!) { player(playerUniqueId: $id) { ...Rewards } } fragment Rewards on Player { coupons { code } }`;
  const ids = await post(both.gateway.url, { query, operationName: 'Ids', variables: { id: 'p1' } });
  const plan = { scopes: ['players:read'], fields: { getPlayer: ['Query.player'] } };
  expect(ids.extensions['plan']).toMatchObject(plan);

  const signer = secretSigner();
  const gateway = await startGateway(both.upstream.url, { NODE_ENV: 'production', ...signer.env });
  const answer = await gateway.query(`{ ${PLAYER} }`, {}, bearer(signer));
  expect(answer.data).toEqual({ player: { id: 'p1' } });
  expect(Object.keys(answer.extensions)).toEqual(['requestId']);
});
