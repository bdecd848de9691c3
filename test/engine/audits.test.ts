import { expect, test } from '@jest/globals';
import { serverAudits } from 'graphql-http';
import { client, startWithCallers, WHAT } from '../kit/callers.ts';

/* GraphQL over HTTP: graphql-http's audits, as a caller who may read the schema, against a gateway in production form. */

/**
 * Nothing was executed, and a 400 says so to caches and monitors too; Apollo Server answers like this for application/json.
 */
const REFUSED_AS_400 = new Set(['572B', 'FDE2', '7B9B']);

const all = await startWithCallers({ NODE_ENV: 'production' });

const { authorization = '' } = client(...WHAT, 'any-player');
/** GET needs a header that no form of a website can send. */
const HEADERS = { authorization, 'apollo-require-preflight': 'true' };
const audits = serverAudits({
  url: () => `${all.gateway.url}/graphql`,
  fetchFn: (url: string, init: RequestInit = {}) =>
    fetch(url, { ...init, headers: { ...Object(init.headers), ...HEADERS } }),
});

// A new version of graphql-http with more of them is looked at.
test('there are 61 audits', () => expect(audits).toHaveLength(61));

test.each(audits.map(({ id, name, fn }) => ({ id, name, fn })))('$id $name', async ({ id, fn }) => {
  const { status, reason } = { reason: undefined, ...(await fn()) };
  const excused = { status: 'warn', reason: 'Response status code is not 200' };
  expect({ status, reason }).toEqual(REFUSED_AS_400.has(id) ? excused : { status: 'ok' });
});
