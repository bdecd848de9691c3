import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { post, startBoth, startGateway, type TestGateway } from '../kit/gateway.ts';
import { now, secretSigner, token, UNLIMITED } from '../kit/tokens.ts';
import { coupons, friend } from '../kit/upstream-data.ts';

let both: Awaited<ReturnType<typeof startBoth>>;
beforeEach(async () => {
  both = await startBoth(UNLIMITED);
});
afterEach(() => both.close());

// biome-ignore lint/suspicious/noExplicitAny: tests look into lines of every shape.
const linesOf = (gateway: TestGateway): any[] =>
  gateway
    .logged()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
const operationsOf = (gateway: TestGateway) => linesOf(gateway).filter(({ msg }) => msg === 'operation');

const PLAYER = 'player(playerUniqueId: "p1") { id }';
const INFO = 30;

describe('the log line of an operation', () => {
  const rows: [name: string, query: string, line: Record<string, unknown>][] = [
    [
      'a named query',
      'query Screen { player(playerUniqueId: "p1") { referralLink coupons { code } referredFriends { total } } }',
      { operation: 'Screen', type: 'query', upstreamCalls: 3, status: 200, outcome: 'OK' },
    ],
    ['a query without a name', `{ ${PLAYER} }`, { type: 'query', upstreamCalls: 1, status: 200, outcome: 'OK' }],
    [
      'a mutation',
      'mutation Save { upsertPlayer(input: { playerUniqueId: "p1" }) { userErrors { code } } }',
      { operation: 'Save', type: 'mutation', upstreamCalls: 1, status: 200, outcome: 'OK' },
    ],
    [
      'a query of which a part fails',
      'query Part { player(playerUniqueId: "p1") { id referredFriends(limit: 0) { total } } players(playerUniqueIds: [""]) { id } }',
      { operation: 'Part', type: 'query', status: 200, outcome: 'BAD_USER_INPUT' },
    ],
    [
      'a query that is not valid',
      'query Bad { nothing }',
      { upstreamCalls: 0, status: 400, outcome: 'GRAPHQL_VALIDATION_FAILED' },
    ],
    ['no query at all', '{', { upstreamCalls: 0, status: 400, outcome: 'GRAPHQL_PARSE_FAILED' }],
  ];

  test.each(rows)('%s', async (_name, query, line) => {
    const { text, headers } = await both.gateway.query(query);
    expect(operationsOf(both.gateway)).toEqual([
      expect.objectContaining({
        ...line,
        level: INFO,
        caller: 'development',
        requestId: headers.get('x-request-id'),
        bytes: Buffer.byteLength(text),
        ms: expect.any(Number),
      }),
    ]);
  });

  test('tells the trace, the document and the client, and the REST calls of a slow operation', async () => {
    const { upstream, gateway, close } = await startBoth({ ...UNLIMITED, SLOW_OPERATION_MS: '1' });
    const held = upstream.hold('GET /player');
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const query = `query Slow { ${PLAYER} }`;
    const slow = gateway.query(
      query,
      {},
      {
        traceparent: `00-${traceId}-b7ad6b7169203331-01`,
        'apollographql-client-name': 'shop app',
        'apollographql-client-version': '2.1.0',
      },
    );
    await held.arrived;
    held.release();
    await slow;
    expect(operationsOf(gateway)).toEqual([
      expect.objectContaining({
        traceId,
        hash: createHash('sha256').update(query).digest('hex').slice(0, 16),
        client: 'shop app@2.1.0',
        calls: [
          {
            call: 'GET /integrations/player/{playerUniqueId}',
            status: 200,
            ms: expect.any(Number),
            queueMs: expect.any(Number),
          },
        ],
      }),
    ]);
    await close();
  });

  test('tells the codes of user errors, and nothing of a client name that is none', async () => {
    await both.gateway.query(
      'mutation { upsertPlayer(input: { playerUniqueId: ".." }) { userErrors { code } } }',
      {},
      { 'apollographql-client-name': '"><script>' },
    );
    const [line] = operationsOf(both.gateway);
    expect([line.userErrors, line.client, line.calls]).toEqual([['INVALID'], undefined, undefined]);
  });

  test('every deletePlayer leaves a line of audit: who, whom and the outcome', async () => {
    const failed = { status: 500, raw: '' };
    both.upstream.on('DELETE /player', failed, failed, failed, 'usual');
    const remove = (id: string) =>
      `mutation { deletePlayer(input: { playerUniqueId: "${id}" }) { deletedPlayerUniqueId } }`;
    for (const id of ['p1', 'p2', 'nobody', '..', 'ada@shop.example']) await both.gateway.query(remove(id));
    const audits = linesOf(both.gateway).filter(({ audit }) => audit === 'deletePlayer');
    expect(audits.map(({ caller, player, outcome }) => [caller, player, outcome])).toEqual([
      ['development', expect.stringMatching(/^hmac:[\da-f]{16}$/), 'FAILED'],
      ['development', expect.stringMatching(/^hmac:[\da-f]{16}$/), 'DELETED'],
      ['development', expect.stringMatching(/^hmac:[\da-f]{16}$/), 'NOT_FOUND'],
      ['development', expect.stringMatching(/^hmac:[\da-f]{16}$/), 'REFUSED'],
      ['development', expect.stringMatching(/^hmac:[\da-f]{16}$/), 'NOT_FOUND'],
    ]);
  });

  test('requests that never become operations leave one too', async () => {
    const answers: string[] = [];
    for (const [body, type] of [
      ['{', 'application/json'],
      ['{}', 'application/json'],
      ['{}', 'text/plain'],
    ] as const) {
      const asked = { method: 'POST', body, headers: { 'content-type': type } };
      answers.push(await (await fetch(`${both.gateway.url}/graphql`, asked)).text());
    }
    expect(operationsOf(both.gateway)).toEqual(
      [400, 400, 415].map((status, index) =>
        expect.objectContaining({ status, outcome: 'BAD_REQUEST', bytes: Buffer.byteLength(answers[index] ?? '') }),
      ),
    );
  });

  test.each([1, 30])('the bytes are those of the text, not of what it is compressed to: %d times', async (times) => {
    const fields = Array.from({ length: times }, (_, number) => `a${number}: code currency`);
    const query = `{ player(playerUniqueId: "p1") { coupons { ${fields.join(' ')} } } }`;
    const gateway = await startGateway(both.upstream.url, {
      MAX_COMPLEXITY: '100000',
      MAX_TOKENS: '10000',
    });
    const { text, headers } = await gateway.query(query, {}, { 'accept-encoding': 'gzip' });
    expect(headers.get('content-encoding')).toBe(times === 1 ? null : 'gzip');
    expect(operationsOf(gateway)).toEqual([expect.objectContaining({ bytes: Buffer.byteLength(text) })]);
    await gateway.close();
  });

  test('the name of the caller stands in it, never the token; a player is a keyed hash', async () => {
    const signer = secretSigner();
    const gateway = await startGateway(both.upstream.url, signer.env);
    const ask = (authorization: string) => gateway.query(`{ ${PLAYER} }`, {}, { authorization });
    const tokens = ['p1', 'ada@example.com', '+44123456789'].map((sub) => token(signer, { sub }));
    for (const one of [...tokens, 'forged']) await ask(`Bearer ${one}`);
    expect(operationsOf(gateway).map(({ caller, outcome }) => [caller, outcome])).toEqual([
      [expect.stringMatching(/^hmac:[\da-f]{16}$/), 'OK'],
      [expect.stringMatching(/^hmac:[\da-f]{16}$/), 'OK'],
      [expect.stringMatching(/^hmac:[\da-f]{16}$/), 'OK'],
      [undefined, 'UNAUTHENTICATED'],
    ]);
    for (const secret of [...tokens, 'forged', 'ada@example.com', '+44123456789']) {
      expect(gateway.logged()).not.toContain(secret);
    }
    await gateway.close();
  });
});

describe('failures of the REST service', () => {
  test('are logged once under the id the client got; of what the service said only status and code', async () => {
    const body = { code: 9, message: 'ada@example.com is not wanted' };
    both.upstream.on('GET /coupon', { status: 422, json: body });
    const { headers, text } = await both.gateway.query(
      '{ player(playerUniqueId: "p1") { referralLink coupons { code } } }',
    );
    const requestId = headers.get('x-request-id');
    const lines = linesOf(both.gateway);
    expect(lines.filter(({ msg }) => msg === 'upstream call failed')).toEqual([
      expect.objectContaining({
        requestId,
        code: 'UPSTREAM_REJECTED',
        upstreamStatus: 422,
        level: 40,
        upstreamCode: 9,
      }),
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/ada@example|not wanted/);
    expect(text).not.toContain('not wanted');
  });

  test('while the breaker is open, calls that are not sent cause no warnings', async () => {
    const gateway = await startGateway(both.upstream.url);
    both.upstream.on('GET /player', { status: 500 });
    const read = (id: number) => gateway.query(`{ player(playerUniqueId: "failing-${id}") { referralLink } }`);
    const warnings = () => linesOf(gateway).filter(({ msg, level }) => msg === 'upstream call failed' && level > INFO);
    for (let id = 0; id < 10; id += 1) await read(id);
    const before = warnings().length;
    both.upstream.forget();
    for (let id = 10; id < 15; id += 1) await read(id);
    await gateway.close();
    expect(both.upstream.calls()).toEqual([]);
    expect(before).toBeGreaterThan(0);
    expect(warnings()).toHaveLength(before);
  });

  test('a client that goes away is not one: the line of its operation says so, and nothing warns', async () => {
    both.upstream.on('GET /player', { fault: 'hang' });
    const gateway = await startGateway(both.upstream.url);
    const client = new AbortController();
    const asked = fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: `{ ${PLAYER} }` }),
      signal: client.signal,
    });
    await both.upstream.received(1);
    client.abort();
    await expect(asked).rejects.toThrow();
    await both.upstream.requests[0]?.gone;
    await gateway.close();
    expect(operationsOf(gateway)).toEqual([expect.objectContaining({ upstreamCalls: 1, outcome: 'CANCELLED' })]);
    expect(linesOf(gateway).filter(({ level }) => level > INFO)).toEqual([]);
  });
});

describe('what goes upstream', () => {
  const GIVEN = '0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const rows: [name: string, header: string | undefined, passed: RegExp][] = [
    ['is made up when absent', undefined, /^00-[\da-f]{32}-[\da-f]{16}-00$/],
    ['is taken over', `00-${GIVEN}`, new RegExp(`^00-${GIVEN}$`)],
    ['is taken over from a later version', `01-${GIVEN}-more`, new RegExp(`^00-${GIVEN}$`)],
    ['is replaced when it is too long', `00-${GIVEN}-more`, /^00-(?!0af765)[\da-f]{32}-/],
    ['is replaced when it has capitals', `00-${GIVEN.toUpperCase()}`, /^00-(?!0af765)[\da-f]{32}-/],
    [
      'is replaced when the trace is all zeros',
      `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
      /^00-(?!0{32})[\da-f]{32}-/,
    ],
    ['is replaced when the parent is all zeros', `00-${GIVEN.slice(0, 32)}-${'0'.repeat(16)}-01`, /^00-(?!0af765)/],
    ['is replaced when the version is ff', `ff-${GIVEN}`, /^00-(?!0af765)[\da-f]{32}-/],
  ];
  test.each(rows)('traceparent %s', async (_name, traceparent, passed) => {
    await both.gateway.query(`{ ${PLAYER} }`, {}, traceparent === undefined ? {} : { traceparent });
    const [request] = both.upstream.requests;
    expect(request?.headers['traceparent']).toMatch(passed);
    expect(request?.headers['traceparent']).not.toMatch(/-0{16}-|-0{32}-/);
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
    expect(operationsOf(both.gateway)[0].requestId).toBe(id);
  });
});

describe('metrics', () => {
  /** The value of one line of the page. */
  const valueIn = (page: string, line: string) =>
    Number(
      page
        .split('\n')
        .find((one) => one.startsWith(`${line} `))
        ?.split(' ')
        .pop(),
    );
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

  test('durations are in seconds, in the sum and in the buckets', async () => {
    const { gateway } = both;
    const { extensions } = await gateway.query(`query Timed { ${PLAYER} }`);
    const page = await gateway.metrics();
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

  test('callers who were not let in and long names get no name of their own', async () => {
    const signer = secretSigner();
    const gateway = await startGateway(both.upstream.url, signer.env);
    await gateway.query(`query Intruder { ${PLAYER} }`, {}, { authorization: 'Bearer forged' });
    await gateway.query(`query ${'L'.repeat(65)} { ${PLAYER} }`, {}, { authorization: `Bearer ${token(signer)}` });
    const page = await gateway.metrics();
    expect(new Set(page.match(/(?<=operation=")[^"]+/g))).toEqual(new Set(['other', 'none']));
    await gateway.close();
  });

  test('requests to the REST service by endpoint, status and time, retries and calls by outcome', async () => {
    const { gateway, upstream } = both;
    upstream.on('GET /player', { status: 503 }, 'usual');
    await gateway.query(`{ ${PLAYER} }`);
    await gateway.query(`{ ${PLAYER} }`);
    const page = await gateway.metrics();
    expect(valueIn(page, `rest_request_duration_seconds_count{${PLAYERS},status="503"}`)).toBe(1);
    expect(valueIn(page, `rest_request_duration_seconds_count{${PLAYERS},status="200"}`)).toBe(2);
    expect(valueIn(page, `rest_retries_total{${PLAYERS}}`)).toBe(1);
    expect(valueIn(page, `rest_calls_total{${PLAYERS},outcome="OK"}`)).toBe(2);
    expect(valueIn(page, 'rest_breaker{state="closed"}')).toBe(1);
  });

  test('refused tokens by reason, which no response shows', async () => {
    const signer = secretSigner();
    const gateway = await startGateway(both.upstream.url, signer.env);
    const stranger = secretSigner();
    const tokens: [reason: string, authorization: string | undefined][] = [
      ['missing', undefined],
      ['malformed', 'Basic YTpi'],
      ['malformed', 'Bearer no-jwt'],
      ['signature', `Bearer ${token(stranger)}`],
      ['audience', `Bearer ${token(signer, { aud: 'somebody else' })}`],
      ['lifetime', `Bearer ${token(signer, { exp: now() + 10 * 86_400 })}`],
      ['expired', `Bearer ${token(signer, { exp: now() - 3_600 })}`],
    ];
    const answers = new Set<string>();
    for (const [, authorization] of tokens) {
      const { status, errors } = await gateway.query(`{ ${PLAYER} }`, {}, authorization ? { authorization } : {});
      answers.add(`${status} ${errors[0]?.message}`);
    }
    expect(answers.size).toBe(1);
    const page = await gateway.metrics();
    const expected = { missing: 1, malformed: 2, signature: 1, audience: 1, lifetime: 1, expired: 1 };
    for (const [reason, count] of Object.entries(expected)) {
      expect(valueIn(page, `gateway_authentication_failures_total{reason="${reason}"}`)).toBe(count);
    }
    await gateway.close();
  });

  test('persisted queries by what was found', async () => {
    const query = `query Kept { ${PLAYER} }`;
    const extensions = {
      persistedQuery: { version: 1, sha256Hash: createHash('sha256').update(query).digest('hex') },
    };
    const { gateway } = both;
    for (const body of [{ extensions }, { query, extensions }, { extensions }, { extensions }])
      await post(gateway.url, body);
    const page = await gateway.metrics();
    expect(valueIn(page, 'gateway_persisted_queries_total{result="unknown"}')).toBe(1);
    expect(valueIn(page, 'gateway_persisted_queries_total{result="sent"}')).toBe(1);
    expect(valueIn(page, 'gateway_persisted_queries_total{result="registered"}')).toBe(2);
  });

  test('operations that are executed at this moment', async () => {
    const { gateway, upstream } = both;
    const held = upstream.hold('GET /player');
    const answered = gateway.query(`{ ${PLAYER} }`);
    await held.arrived;
    const page = await gateway.metrics();
    expect(valueIn(page, 'gateway_operations_active')).toBe(1);
    held.release();
    await answered;
    expect(valueIn(await gateway.metrics(), 'gateway_operations_active')).toBe(0);
  });

  test('batches, unknown enum values and undecodable dates', async () => {
    const { gateway, upstream } = both;
    upstream.on('GET /coupon', { json: { coupons: [{ ...coupons('p1')[0], couponType: 'novel', endAt: 'soon' }] } });
    upstream.on('GET /referrals', { json: { referredFriends: [{ ...friend(1), status: 'lost' }] } });
    await gateway.query(`{ players(playerUniqueIds: ["p1", "p2", "p3"]) { id }
      player(playerUniqueId: "p1") { coupons { couponType endAt } referredFriends { nodes { status } } } }`);
    const page = await gateway.metrics();
    expect(page).toMatch(/gateway_loader_batch_size_sum\{loader="players"\} [34]/);
    expect(page).toMatch(/rest_decode_warnings_total\{kind="unknown-enum-value",member="[\w.]*couponType"\} 1/);
    expect(page).toMatch(/rest_decode_warnings_total\{kind="unknown-enum-value",member="[\w.]*status"\} 1/);
    expect(page).toMatch(/rest_decode_warnings_total\{kind="undecodable-date",member="[\w.]*endAt"\} 1/);
    expect(page).not.toMatch(/novel|soon|lost/);
  });
});

describe('extensions.upstream', () => {
  test('lists the REST calls in development', async () => {
    const { extensions, text } = await both.gateway.query(
      '{ player(playerUniqueId: "p1") { referralLink coupons { code } } }',
    );
    const call = { method: 'GET', status: 200, ms: expect.any(Number) };
    expect(extensions['upstream']).toHaveLength(2);
    expect(extensions['upstream']).toEqual(
      expect.arrayContaining([
        { ...call, template: '/integrations/player/{playerUniqueId}' },
        { ...call, template: '/integrations/transactions/{playerUniqueId}/coupon' },
      ]),
    );
    expect(text).not.toContain('-key-for-tests');
  });

  test('is not there in production', async () => {
    const signer = secretSigner();
    const gateway = await startGateway(both.upstream.url, { NODE_ENV: 'production', ...signer.env });
    const answer = await post(gateway.url, { query: `{ ${PLAYER} }` }, { authorization: `Bearer ${token(signer)}` });
    expect(answer.data).toEqual({ player: { id: 'p1' } });
    expect(Object.keys(answer.extensions)).toEqual(['requestId']);
    await gateway.close();
  });
});
