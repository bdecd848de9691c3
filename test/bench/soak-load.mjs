/*
 * The load of the soak: operations arrive at a fixed rate whether or not the ones before them are answered (an open loop),
 * and each is judged by its answer. Seven in ten read a player, its coupons and friends or the player alone; three write.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

/** What a client may be told when something is wrong. Anything else is no clean error. */
const CODES = new Set([
  'OVERLOADED',
  'RATE_LIMITED',
  'UPSTREAM_TIMEOUT',
  'UPSTREAM_UNAVAILABLE',
  'UPSTREAM_REJECTED',
  'UPSTREAM_INVALID_RESPONSE',
]);

/** Longer than any deadline of the gateway: who is not answered by then is not answered. */
const PATIENCE_MS = 20_000;

const SCREEN = `query Screen($id: ID!) { player(playerUniqueId: $id) {
  attributes { displayName tags } coupons { code value } referredFriends(limit: 10) { total nodes { displayName } } } }`;
const READ = 'query Read($id: ID!) { player(playerUniqueId: $id) { referralLink attributes { displayName } } }';
const EVENT = `mutation Event($id: ID!, $name: String!) { trackEvents(input: { playerUniqueId: $id, events: [{ name: $name,
  metadata: { amount: 5 } }] }) { eventNames userErrors { code } } }`;
const UPSERT = `mutation Upsert($id: ID!) { upsertPlayer(input: { playerUniqueId: $id, attributes: { firstName: "Ada" } }) {
  serviceId userErrors { code } } }`;
const DELETE = `mutation Delete($id: ID!) { deletePlayer(input: { playerUniqueId: $id }) {
  deletedPlayerUniqueId userErrors { code } } }`;

/** Ten operations, again and again: a text, how many REST calls it needs, and what the upstream's ledger calls it. */
const MIX = [
  { query: SCREEN, calls: 3 },
  { query: EVENT, calls: 1, kind: 'event' },
  { query: READ, calls: 1 },
  { query: SCREEN, calls: 3 },
  { query: UPSERT, calls: 1, kind: 'upsert' },
  { query: READ, calls: 1 },
  { query: SCREEN, calls: 3 },
  { query: READ, calls: 1 },
  { query: DELETE, calls: 1, kind: 'delete' },
  { query: SCREEN, calls: 3 },
];

/** Load on the gateway at `url`. Every operation is told to `onAnswer` when it is over. */
export function createLoad(url, token, onAnswer) {
  const pool = new Pool(url, { headersTimeout: 0, bodyTimeout: 0 });
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const under = new Set();
  let number = 0;

  /** Sends the next operation of the mix. Never rejects. */
  async function operate(phase) {
    number += 1;
    const { query, calls, kind } = MIX[number % MIX.length];
    const id = kind ? `w${number}` : `p${number % 5_000}`;
    const name = kind === 'event' ? `event-${number}` : undefined;
    const began = performance.now();
    const record = { phase, calls, written: kind && `${kind} ${name ?? id}`, outcome: 'unanswered' };
    try {
      const { body } = await pool.request({
        path: '/graphql',
        method: 'POST',
        headers,
        body: JSON.stringify({ query, variables: { id, name } }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      Object.assign(record, judge(await body.json()));
    } catch (error) {
      record.reason = error.message;
    }
    record.ms = performance.now() - began;
    onAnswer(record);
  }

  return {
    /** Sends `rate` operations a second for so long, evenly. Resolves when the last one is sent, not answered. */
    async run(phase, ms, rate) {
      const began = performance.now();
      const total = Math.round((ms * rate) / 1000);
      for (let sent = 0; sent < total; await sleep(2)) {
        const due = Math.min(((performance.now() - began) * rate) / 1000, total);
        for (; sent < due; sent += 1) {
          const operation = operate(phase).finally(() => under.delete(operation));
          under.add(operation);
        }
      }
    },
    /** Resolves when every operation is over. */
    settled: () => Promise.all(under),
    close: () => pool.destroy(),
  };
}

/** `data`, a clean `error` of the closed set of codes, or `unclean`; with the first code. */
function judge({ data, errors = [] }) {
  const refused = Object.values(data ?? {}).some((payload) => payload?.userErrors?.length > 0);
  if (errors.length === 0) return { outcome: data && !refused ? 'data' : 'unclean' };
  const isClean = errors.every(({ extensions }) => CODES.has(extensions?.code));
  return { outcome: isClean ? 'error' : 'unclean', code: errors[0].extensions?.code };
}
