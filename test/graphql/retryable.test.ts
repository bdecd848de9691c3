import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type Answer, startBoth } from '../kit/gateway.ts';
import type { EndpointName, Script } from '../kit/upstream.ts';

/* `retryable` and `outcome` of mutations, judged over the whole operation. */
const UPSERT = 'upsertPlayer(input: { playerUniqueId: "p1" }) { player { id } userErrors { code } }';
const REMOVE = 'deletePlayer(input: { playerUniqueId: "p2" }) { deletedPlayerUniqueId }';
const TRACK = 'trackEvents(input: { playerUniqueId: "p1", events: [{ name: "a" }] }) { eventNames player { id } }';
const keyed = (key: string, selection = 'eventNames') =>
  `trackEvents(input: { playerUniqueId: "p1", events: [{ name: "a" }], idempotencyKey: "${key}" }) { ${selection} }`;
const REFUSED = 'a: trackEvents(input: { playerUniqueId: "", events: [] }) { userErrors { code } }';

let both: Awaited<ReturnType<typeof startBoth>>;
beforeEach(async () => {
  both = await startBoth({ REST_TIMEOUT_MS: '300' });
});
afterEach(() => both.close());

/** Path, outcome and retryability of each error. */
const told = ({ errors }: Answer): unknown[] =>
  errors.map(({ path, extensions }) => `${path?.join('.')} ${extensions['outcome']} ${extensions['retryable']}`);

const FAILURES: Record<string, Script> = {
  fails: { status: 500 },
  'is cut off': { fault: 'reset' },
  hangs: { fault: 'hang' },
};
test.each<[mutation: string, endpoint: EndpointName, failure: string, expected: string]>([
  [TRACK, 'POST /event', 'is cut off', 'trackEvents UNKNOWN false'],
  [TRACK, 'POST /event', 'hangs', 'trackEvents UNKNOWN false'],
  [TRACK, 'POST /event', 'fails', 'trackEvents UNKNOWN false'],
  [keyed('cut'), 'POST /event', 'is cut off', 'trackEvents UNKNOWN false'],
  [UPSERT, 'POST /player', 'hangs', 'upsertPlayer UNKNOWN false'],
  [TRACK, 'GET /player', 'fails', 'trackEvents.player DONE false'],
  [`${REMOVE} ${TRACK}`, 'POST /event', 'fails', 'trackEvents UNKNOWN false'],
])('%s when %s %s: %s', async (mutation, endpoint, failure, expected) => {
  both.upstream.on(endpoint, FAILURES[failure] ?? 'usual');
  expect(told(await both.gateway.query(`mutation { ${mutation} }`))).toEqual([expected]);
});

test.each([
  [UPSERT, 'upsertPlayer NOT_DONE true'],
  [`a: ${TRACK} b: ${TRACK}`, 'a NOT_DONE true', 'b NOT_DONE true'],
  [`${REFUSED} ${TRACK}`, 'trackEvents NOT_DONE true'],
])('%s without a connection, so that nothing was sent: %s', async (mutation, ...expected) => {
  await both.upstream.stop();
  expect(told(await both.gateway.query(`mutation { ${mutation} }`))).toEqual(expected);
  await both.upstream.restart();
});

// The service is stopped as soon as it has answered the first write, so that the second one is surely not sent.
test.each<[what: string, mutation: string, EndpointName, ...expected: string[]]>([
  [
    'forbids to send the operation again',
    `${UPSERT} ${TRACK}`,
    'POST /player',
    ...['upsertPlayer.player DONE false', 'trackEvents NOT_DONE false'],
  ],
  [
    'with a key does not',
    `a: ${keyed('done', 'player { id }')} b: ${keyed('other')}`,
    'POST /event',
    ...['a.player DONE false', 'b NOT_DONE true'],
  ],
])('a write that was done beside one that was not sent %s', async (_what, mutation, endpoint, ...expected) => {
  const { upstream, gateway } = both;
  const read = upstream.hold('GET /player');
  upstream.on(endpoint, { headers: { connection: 'close' }, json: {} });
  const response = gateway.query(`mutation { ${mutation} }`);
  await read.arrived;
  await upstream.stop();
  expect(told(await response)).toEqual(expected);
  await upstream.restart();
});

test('queries, and mutations that are refused before execution, say no outcome', async () => {
  both.upstream.on('GET /player', { status: 500 });
  const query = await both.gateway.query('{ player(playerUniqueId: "p1") { id } }');
  expect(told(query)).toEqual(['player undefined true']);
  const { errors } = await both.gateway.query('mutation { trackEvents(input: {}) { eventNames } }');
  expect(new Set(errors.map(({ extensions }) => JSON.stringify(extensions)))).toEqual(
    new Set(['{"code":"GRAPHQL_VALIDATION_FAILED"}']),
  );
});
