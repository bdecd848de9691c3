import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { startBoth } from '../kit/gateway.ts';
import type { EndpointName, Script } from '../kit/upstream.ts';

/*
 * `retryable` and `outcome` of mutations, judged over the whole operation. Each row: the fields of the mutation, what the
 * upstream does, and the response key, outcome and retryability of each error.
 */
const UPSERT = 'upsertPlayer(input: { playerUniqueId: "p1" }) { player { id } userErrors { code } }';
const REMOVE = 'deletePlayer(input: { playerUniqueId: "p2" }) { deletedPlayerUniqueId }';
const TRACK = 'trackEvents(input: { playerUniqueId: "p1", events: [{ name: "a" }] }) { eventNames player { id } }';
const keyed = (key: string, events = '[{ name: "a" }]') =>
  `trackEvents(input: { playerUniqueId: "p1", events: ${events}, idempotencyKey: "${key}" }) { eventNames }`;

/** A pause that the service asks for with a read leaves writes unsent. */
const FAILS: Script = { status: 500 };
const RESETS: Script = { fault: 'reset' };
const HANGS: Script = { fault: 'hang' };
/** No connection: surely not sent. */
const STOPPED = 'stopped';

type Scripts = Partial<Record<EndpointName, Script>> | typeof STOPPED;
/** `told`: path, outcome and retryability of each error. */
const rows: [what: string, mutation: string, scripts: Scripts, ...told: string[]][] = [
  ['an event that was cut off', TRACK, { 'POST /event': RESETS }, 'trackEvents UNKNOWN false'],
  ['an event without a response', TRACK, { 'POST /event': HANGS }, 'trackEvents UNKNOWN false'],
  ['an upsert without a response', UPSERT, { 'POST /player': HANGS }, 'upsertPlayer UNKNOWN false'],
  ['an event that failed', TRACK, { 'POST /event': FAILS }, 'trackEvents UNKNOWN false'],
  ['a key that was cut off', keyed('cut'), { 'POST /event': RESETS }, 'trackEvents UNKNOWN false'],
  ['an event that was not sent', TRACK, STOPPED, 'trackEvents NOT_DONE true'],
  ['an upsert that was not sent', UPSERT, STOPPED, 'upsertPlayer NOT_DONE true'],
  ['two events that were not sent', `a: ${TRACK} b: ${TRACK}`, STOPPED, 'a NOT_DONE true', 'b NOT_DONE true'],
  ['a read after a write', TRACK, { 'GET /player': FAILS }, 'trackEvents.player DONE false'],
  ['a second write that failed', `${REMOVE} ${TRACK}`, { 'POST /event': FAILS }, 'trackEvents UNKNOWN false'],
  [
    'input that was refused beside a write that failed',
    `a: trackEvents(input: { playerUniqueId: "", events: [] }) { userErrors { code } } ${TRACK}`,
    STOPPED,
    'trackEvents NOT_DONE true',
  ],
];

let both: Awaited<ReturnType<typeof startBoth>>;
beforeEach(async () => {
  both = await startBoth({ REST_TIMEOUT_MS: '300' });
});
afterEach(() => both.close());

const told = (errors: Awaited<ReturnType<typeof both.gateway.query>>['errors']): unknown[] =>
  errors.map(({ path, extensions }) => `${path?.join('.')} ${extensions['outcome']} ${extensions['retryable']}`);

test.each(rows)('%s', async (_what, mutation, scripts, ...expected) => {
  if (scripts === STOPPED) await both.upstream.stop();
  else for (const [endpoint, script] of Object.entries(scripts)) both.upstream.on(endpoint as EndpointName, script);
  const { status, errors } = await both.gateway.query(`mutation { ${mutation} }`);
  expect(status).toBe(200);
  expect(told(errors)).toEqual(expected);
  if (scripts === STOPPED) await both.upstream.restart();
});

/** The service is stopped as soon as it has answered the first write, so that the second one is surely not sent. */
async function stopAfter(endpoint: EndpointName, mutation: string) {
  const { upstream, gateway } = both;
  const second = upstream.hold('GET /player');
  upstream.on(endpoint, { headers: { connection: 'close' }, json: {} });
  const response = gateway.query(`mutation { ${mutation} }`);
  await second.arrived;
  await upstream.stop();
  const { errors } = await response;
  await upstream.restart();
  return told(errors);
}

test('a write that was done beside one that was not sent: the operation must not be sent again', async () => {
  expect(await stopAfter('POST /player', `${UPSERT} ${TRACK}`)).toEqual([
    'upsertPlayer.player DONE false',
    'trackEvents NOT_DONE false',
  ]);
});

test('an event with a key that was done does not forbid to send the operation again', async () => {
  const done = keyed('done').replace('eventNames', 'eventNames player { id }');
  expect(await stopAfter('POST /event', `a: ${done} b: ${keyed('other')}`)).toEqual([
    'a.player DONE false',
    'b NOT_DONE true',
  ]);
});

test('queries say no outcome, and what was refused before it was sent is retryable', async () => {
  both.upstream.on('GET /player', FAILS);
  const { errors } = await both.gateway.query('{ player(playerUniqueId: "p1") { id attributes { city } } }');
  expect(told(errors)).toEqual(['player undefined true']);
});

test('a mutation that is refused before execution says no outcome', async () => {
  const { errors } = await both.gateway.query('mutation { trackEvents }');
  expect(errors.map(({ extensions }) => extensions)).toEqual(errors.map(() => ({ code: 'GRAPHQL_VALIDATION_FAILED' })));
  expect(errors.length).toBeGreaterThan(0);
});
