import { readdirSync, readFileSync } from 'node:fs';
import { ApolloClient, InMemoryCache, type ObservableQuery } from '@apollo/client';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { cacheConfig, createGatewayLink, defaultOptions } from '@referral-gateway/client/apollo';
import { getOperationAST, parse } from 'graphql';
import { until } from '../../kit/until.ts';
import { recordRequests, startDemo } from '../kit.ts';

/* The example queries of schema/operations/ in one cache, each of them watched as an open screen watches it. */

const FOLDER = new URL('../../../schema/operations/', import.meta.url);
const queries = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.graphql'))
  .map((name) => parse(readFileSync(new URL(name, FOLDER), 'utf8')))
  .filter((document) => getOperationAST(document)?.operation === 'query');

let demo: Awaited<ReturnType<typeof startDemo>>;
beforeAll(async () => {
  demo = await startDemo();
}, 60_000);
afterAll(() => demo?.stop());

test.each([
  ['one after the other', false],
  ['all at once', true],
])('the example queries in one cache, %s, need at most two requests more than there are queries', async (_, atOnce) => {
  const requests = recordRequests();
  const link = createGatewayLink({ url: demo.uri });
  const client = new ApolloClient({ cache: new InMemoryCache(cacheConfig), link, defaultOptions });
  const watched: ObservableQuery[] = [];
  /** Resolves when no watched query waits for the gateway. */
  const settled = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    await until(() => requests.isIdle() && !watched.some((query) => query.getCurrentResult().loading));
  };
  for (const query of queries) {
    const observable = client.watchQuery({ query });
    observable.subscribe({});
    watched.push(observable);
    if (!atOnce) await settled();
  }
  await settled();
  expect(queries.length).toBeGreaterThanOrEqual(8);
  expect(requests.sent.length).toBeGreaterThan(0);
  expect(requests.sent.length).toBeLessThanOrEqual(queries.length + 2);
  for (const observable of watched) {
    expect(observable.getCurrentResult()).toMatchObject({ dataState: 'complete', networkStatus: 7 });
  }

  // Everything is in the cache now.
  requests.forget();
  for (const query of queries) await client.query({ query });
  expect(requests.sent).toEqual([]);
  requests.restore();
  client.stop();
});
