import { beforeEach, expect, test } from '@jest/globals';
import { startBoth } from '../kit/gateway.ts';
import type { Answer, EndpointName } from '../kit/upstream.ts';

/* `retryable` and `outcome` of mutations, judged over the whole operation. */
const UPSERT = 'upsertPlayer(input: { playerUniqueId: "p1" }) { player { id } userErrors { code } }';
const REMOVE = 'deletePlayer(input: { playerUniqueId: "p2" }) { deletedPlayerUniqueId }';
const TRACK = 'trackEvents(input: { playerUniqueId: "p1", events: [{ name: "a" }] }) { eventNames player { id } }';
const keyed = (key: string, selection = 'eventNames') =>
  `trackEvents(input: { playerUniqueId: "p1", events: [{ name: "a" }], idempotencyKey: "${key}" }) { ${selection} }`;
const REFUSED = 'a: trackEvents(input: { playerUniqueId: "", events: [] }) { userErrors { code } }';

let both: Awaited<ReturnType<typeof startBoth>>;
beforeEach(async () => {
  both = await startBoth({ REST_TIMEOUT_MS: '1500' });
});

/** Path, outcome and retryability of each error of an operation. */
async function told(operation: string): Promise<unknown[]> {
  const { errors } = await both.gateway.query(operation);
  return errors.map(({ path, extensions }) => `${path?.join('.')} ${extensions['outcome']} ${extensions['retryable']}`);
}

test.each<[mutation: string, endpoint: EndpointName, failure: Answer, expected: string]>([
  [TRACK, 'POST /event', { fault: 'reset' }, 'trackEvents UNKNOWN false'],
  [keyed('cut'), 'POST /event', { fault: 'reset' }, 'trackEvents UNKNOWN false'],
  [UPSERT, 'POST /player', { fault: 'hang' }, 'upsertPlayer UNKNOWN false'],
  [TRACK, 'GET /player', { status: 500 }, 'trackEvents.player DONE false'],
  [`${REMOVE} ${TRACK}`, 'POST /event', { status: 500 }, 'trackEvents UNKNOWN false'],
])('%s when %s has %j: %s', async (mutation, endpoint, failure, expected) => {
  both.upstream.on(endpoint, failure);
  expect(await told(`mutation { ${mutation} }`)).toEqual([expected]);
});

test.each([
  [UPSERT, 'upsertPlayer NOT_DONE true'],
  [`a: ${TRACK} b: ${TRACK}`, 'a NOT_DONE true', 'b NOT_DONE true'],
  [`${REFUSED} ${TRACK}`, 'trackEvents NOT_DONE true'],
])('%s without a connection, so that nothing was sent: %s', async (mutation, ...expected) => {
  await both.upstream.stop();
  expect(await told(`mutation { ${mutation} }`)).toEqual(expected);
  await both.upstream.restart();
});

test.each([401, 403])(
  'a write whose keys were refused with %d was not done, and is sent again after a minute',
  async (status) => {
    const { upstream, gateway } = both;
    for (const endpoint of ['POST /player', 'POST /event', 'DELETE /player'] as const)
      upstream.on(endpoint, { status });
    for (const write of [UPSERT, REMOVE, TRACK, keyed('kept')]) {
      const { errors } = await gateway.query(`mutation { ${write} }`);
      const extensions = { code: 'UPSTREAM_MISCONFIGURED', outcome: 'NOT_DONE', retryable: true, retryAfterMs: 60_000 };
      expect(errors).toMatchObject([{ extensions }]);
    }
    upstream.on('POST /event', 'usual');
    expect(await gateway.query(`mutation { ${keyed('kept')} }`)).toMatchObject({
      data: { trackEvents: { eventNames: ['a'] } },
    });
  },
);

// The service is stopped as soon as it has answered the first write, so that the second one is surely not sent.
const withKeys = `a: ${keyed('done', 'player { id }')} b: ${keyed('other')}`;
test.each<[what: string, mutation: string, EndpointName, second: string]>([
  ['forbids to send the operation again', `a: ${UPSERT} b: ${TRACK}`, 'POST /player', 'b NOT_DONE false'],
  ['with a key does not', withKeys, 'POST /event', 'b NOT_DONE true'],
])('a write that was done beside one that was not sent %s', async (_what, mutation, endpoint, second) => {
  const { upstream } = both;
  const read = upstream.hold('GET /player');
  upstream.on(endpoint, { headers: { connection: 'close' }, json: {} });
  const errors = told(`mutation { ${mutation} }`);
  await read.arrived;
  await upstream.stop();
  expect(await errors).toEqual(['a.player DONE false', second]);
  await upstream.restart();
});

test('a deletion of nobody does not forbid to send the operation again', async () => {
  const { upstream } = both;
  upstream.on('DELETE /player', { status: 404, json: { code: 101 } });
  upstream.on('POST /player', { status: 429 });
  expect(await told(`mutation { ${REMOVE} ${UPSERT} }`)).toEqual(['upsertPlayer NOT_DONE true']);
});

test('queries, and mutations that are refused before execution, say no outcome', async () => {
  both.upstream.on('GET /player', { status: 500 });
  expect(await told('{ player(playerUniqueId: "p1") { id } }')).toEqual(['player undefined true']);
  expect(await told('mutation { deletePlayer { a } }')).toContain('undefined undefined undefined');
});

test.each([
  ['a write whose outcome is unknown', REMOVE, 'deletePlayer UNKNOWN false'],
  ['an event whose earlier outcome is unknown', keyed('lost'), 'trackEvents UNKNOWN false'],
])('%s forbids to send the operation again, although the next write was not done', async (_what, first, expected) => {
  const { upstream, gateway } = both;
  upstream.on('DELETE /player', { status: 500 });
  upstream.on('POST /event', { fault: 'reset' });
  await gateway.query(`mutation { ${keyed('lost')} }`);
  upstream.on('POST /event', 'usual');
  upstream.on('POST /player', { status: 429 });
  expect(await told(`mutation { ${first} ${UPSERT} }`)).toEqual([expected, 'upsertPlayer NOT_DONE false']);
});
