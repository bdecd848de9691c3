import { afterAll, expect, test } from '@jest/globals';
import { serverAudits } from 'graphql-http';
import { client, startWithCallers, WHAT } from '../kit/callers.ts';

/* GraphQL over HTTP: graphql-http's audits, as a caller who may read the schema, against a gateway in production form. */

/** How many audits there are; a new version of graphql-http with more of them is looked at. */
const AUDITS = 61;

/** Audits that need not be ok, each with the reason. */
const REFUSED_AS_400 =
  'Nothing was executed, and a 400 says so to caches and monitors too; Apollo Server answers like this for application/json.';
const EXCUSED: Record<string, string> = { '572B': REFUSED_AS_400, FDE2: REFUSED_AS_400, '7B9B': REFUSED_AS_400 };

const all = await startWithCallers({ NODE_ENV: 'production' });
afterAll(() => all.close());

const { authorization = '' } = client(...WHAT, 'any-player');
/** GET needs a header that no form of a website can send; see the limits in the README. */
const HEADERS = { authorization, 'apollo-require-preflight': 'true' };

const audits = serverAudits({
  url: () => `${all.gateway.url}/graphql`,
  fetchFn: (url: string, init: RequestInit = {}) =>
    fetch(url, { ...init, headers: { ...Object(init.headers), ...HEADERS } }),
});

test('all of them are here', () => {
  expect(audits).toHaveLength(AUDITS);
});

test.each(audits.map(({ id, name, fn }) => ({ id, name, fn })))('$id $name', async ({ id, fn }) => {
  const result = await fn();
  const reason = result.status === 'ok' ? undefined : result.reason;
  const expected = EXCUSED[id] ? { status: 'warn', reason: 'Response status code is not 200' } : { status: 'ok' };
  expect({ status: result.status, reason }).toEqual(expected);
});
