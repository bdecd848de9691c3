import { expect, test } from '@jest/globals';
import { player, startWithCallers } from '../kit/callers.ts';
import { post, startBoth } from '../kit/gateway.ts';

/* Clients that follow GraphQL over HTTP get its media type for every status. */

/** What Apollo Client 4 and urql 5 send. */
const ACCEPTS = [
  'application/graphql-response+json,application/json;q=0.9',
  'application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed',
];
const QUERY = '{ player(playerUniqueId: "p1") { id } }';

test.each(ACCEPTS)('answers 200, 400, 401 and 429 as %s asks', async (accept) => {
  const both = await startWithCallers({ MAX_OPERATIONS_PER_SECOND: '1', MAX_OPERATIONS_BURST: '3' });
  const { url } = both.gateway;
  const authorization = String(player('p1', 'players:read').authorization);
  const ask = async (query: string, headers: Record<string, string>) => {
    const answer = await post(url, { query }, { accept, ...headers });
    return [answer.status, answer.headers.get('content-type')];
  };
  const type = 'application/graphql-response+json; charset=utf-8';
  expect(await ask(QUERY, { authorization })).toEqual([200, type]);
  expect(await ask('{ unknown }', { authorization })).toEqual([400, type]);
  expect(await ask(QUERY, {})).toEqual([401, type]);
  let last: unknown[] = [];
  for (let sent = 0; sent < 5 && last[0] !== 429; sent += 1) last = await ask(QUERY, { authorization });
  expect(last).toEqual([429, type]);
  await both.close();
});

test.each(ACCEPTS)('answers 503 as %s asks', async (accept) => {
  const { gateway, upstream, close } = await startBoth({ MAX_CONCURRENT_OPERATIONS: '8' });
  const held = upstream.hold('GET /player');
  const first = gateway.query(QUERY);
  await held.arrived;
  const { status, headers } = await gateway.query(QUERY, {}, { accept });
  expect([status, headers.get('content-type')]).toEqual([503, 'application/graphql-response+json; charset=utf-8']);
  held.release();
  await first;
  await close();
});

test('executes compiled operations for clients that send these headers', async () => {
  const { gateway, upstream, close } = await startBoth();
  const query = 'query ($id: ID!) { player(playerUniqueId: $id) { id attributes { firstName } } }';
  const answers = [];
  for (let sent = 0; sent < 6; sent += 1) {
    answers.push((await gateway.query(query, { id: 'p1' }, { accept: String(ACCEPTS[0]) })).data);
  }
  expect(new Set(answers.map((data) => JSON.stringify(data))).size).toBe(1);
  expect(upstream.calls()).toHaveLength(6);
  await close();
});
