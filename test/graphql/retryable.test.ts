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

const FAILS: Script = { status: 500 };
const RESETS: Script = { fault: 'reset' };
const HANGS: Script = { fault: 'hang' };

test.each<[what: string, mutation: string, EndpointName, Script, expected: string]>([
  ['an event that was cut off', TRACK, 'POST /event', RESETS, 'trackEvents UNKNOWN false'],
  ['an event without a response', TRACK, 'POST /event', HANGS, 'trackEvents UNKNOWN false'],
  ['an event that failed', TRACK, 'POST /event', FAILS, 'trackEvents UNKNOWN false'],
  ['a key that was cut off', keyed('cut'), 'POST /event', RESETS, 'trackEvents UNKNOWN false'],
  ['an upsert without a response', UPSERT, 'POST /player', HANGS, 'upsertPlayer UNKNOWN false'],
  ['a read after a write', TRACK, 'GET /player', FAILS, 'trackEvents.player DONE false'],
  ['a second write that failed', `${REMOVE} ${TRACK}`, 'POST /event', FAILS, 'trackEvents UNKNOWN false'],
])('%s', async (_what, mutation, endpoint, script, expected) => {
  both.upstream.on(endpoint, script);
  expect(told(await both.gateway.query(`mutation { ${mutation} }`))).toEqual([expected]);
});

test.each([
  ['an upsert', UPSERT, 'upsertPlayer NOT_DONE true'],
  ['two events', `a: ${TRACK} b: ${TRACK}`, 'a NOT_DONE true', 'b NOT_DONE true'],
  ['a write beside input that was refused', `${REFUSED} ${TRACK}`, 'trackEvents NOT_DONE true'],
])('without a connection, so that nothing was sent: %s', async (_what, mutation, ...expected) => {
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
  both.upstream.on('GET /player', FAILS);
  const query = await both.gateway.query('{ player(playerUniqueId: "p1") { id } }');
  expect(told(query)).toEqual(['player undefined true']);
  const { errors } = await both.gateway.query('mutation { trackEvents(input: {}) { eventNames } }');
  expect(new Set(errors.map(({ extensions }) => JSON.stringify(extensions)))).toEqual(
    new Set(['{"code":"GRAPHQL_VALIDATION_FAILED"}']),
  );
});
