import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { idProblem } from '../../src/player-id.ts';
import { failure, operation, start } from './setup.ts';

/*
 * Ids in paths, as the servers between the gateway and the service rewrite them. Each function is what the documentation of
 * one says about the path of a request. Every id that is sent stays where ids stand, and the same: decoded perhaps, with a slash for
 * a backslash, and with one slash in the `://` of a URL, of which no id has one.
 */

const SEED = Number(process.env['PROPERTY_SEED'] ?? 1_127);
const PREFIX = '/api/v3.0/integrations/player/';

const decoded = (path: string) =>
  path.replace(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
const withoutParameters = (path: string) => path.replace(/;[^/]*/g, '');
function dotsResolved(path: string): string {
  const parts: string[] = [];
  const all = path.split('/').slice(1);
  for (const [index, part] of all.entries()) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
    if ((part === '.' || part === '..') && index === all.length - 1) parts.push('');
  }
  return `/${parts.join('/')}`;
}

const SERVERS: Record<string, (path: string) => string> = {
  // "decoding the text encoded in the %XX form, resolving references to relative path components, and merging of slashes"
  nginx: (path) => dotsResolved(decoded(path).replace(/\/{2,}/g, '/')).replaceAll(' ', '%20'),
  // Path parameters are removed from each part before it is decoded and normalised; a backslash is a slash if so configured.
  Tomcat: (path) => dotsResolved(decoded(withoutParameters(path)).replaceAll('\\', '/')).replaceAll(' ', '%20'),
  // The canonical path: without parameters, decoded, dots resolved.
  Jetty: (path) => dotsResolved(decoded(withoutParameters(path))).replaceAll(' ', '%20'),
  // normalize_path with path_with_escaped_slashes_action UNESCAPE_AND_FORWARD: %2F and %5C are slashes, dots may be encoded.
  Envoy: (path) =>
    dotsResolved(
      path
        .replace(/%2f|%5c/gi, '/')
        .replaceAll('\\', '/')
        .replace(/%2e/gi, '.'),
    ),
  'WHATWG URL': (path) => new URL(path, 'http://service.example').pathname,
};
const CHAINS = Object.keys(SERVERS).flatMap((first) => [
  [first],
  ...Object.keys(SERVERS).map((second) => [first, second]),
]);

const spelling = (id: string) => id.replaceAll('\\', '/').replace(/^([a-z][a-z\d+.-]*:\/)\//i, '$1');

const PIECES = ['.', '..', '/', '\\', ';', 'x=1', 'a', 'mallory', 'transactions', ' ', '%', 'a://'];
const CODES = ['%2e', '%2E', '%2f', '%2F', '%5c', '%3b', '%3B', '%252e', '%252f', '%255C', '%253b'];
const ids = fc
  .array(fc.constantFrom(...PIECES, ...CODES), { minLength: 1, maxLength: 8 })
  .map((parts) => parts.join(''));

test.each(CHAINS)('an id that is sent stays the same id behind %s %s', (...chain) => {
  fc.assert(
    fc.property(ids, (id) => {
      fc.pre(!idProblem(id));
      const path = chain.reduce((sent, server) => SERVERS[server]?.(sent) ?? '', PREFIX + encodeURIComponent(id));
      expect(path.startsWith(PREFIX)).toBe(true);
      const same = [id, decoded(id), decoded(decoded(id))].map(spelling);
      expect(same).toContain(spelling(decoded(path.slice(PREFIX.length))));
    }),
    { seed: SEED, numRuns: 500 },
  );
});

test.each([
  '..;/players/mallory',
  '..;x=1/mallory',
  '.;/..;/player/mallory',
  'me/..;a/mallory',
  '%2e%2e%3b%2fmallory',
  'a%252f..%253bb',
])('the id %s is refused, and nothing is sent', async (id) => {
  const { upstream, rest } = await start();
  await expect(rest.getPlayer(id, undefined, operation())).rejects.toThrow('a semicolon');
  await expect(rest.deletePlayer(id, operation())).rejects.toThrow('a semicolon');
  expect(upstream.calls()).toEqual([]);
});

test.each([
  ...['/mallory', '//mallory', 'mallory/', '\\mallory', 'mallory%2F', 'team//mallory', 'team/\\mallory', 'a://b//c'],
  ...['mallory;x', 'mallory;', 'mallory%3bx', 'mallory%253B'],
])('the id %s, which a proxy can make the id of another player, is refused', async (id) => {
  const { upstream, rest } = await start();
  const op = operation();
  const problem = /with a slash|two in a row|a semicolon/;
  await expect(rest.listCoupons(id, op)).rejects.toThrow(problem);
  await expect(rest.deletePlayer(id, op)).rejects.toThrow(problem);
  expect(upstream.calls()).toEqual([]);
});

test.each(['https://id.example/a', 'spiffe://shop.example/ns/app', 'CORP\\mallory', 'team/mallory', 'v2..3', '100%'])(
  'the id %s is sent',
  async (id) => {
    const { upstream, rest } = await start();
    await rest.listCoupons(id, operation());
    expect(upstream.calls()).toEqual([`GET /integrations/transactions/${encodeURIComponent(id)}/coupon`]);
  },
);

test('a response that names another player is not given to anybody', async () => {
  const { upstream, rest } = await start();
  for (const endpoint of ['GET /player', 'GET /coupon', 'GET /referrals'] as const) {
    upstream.on(endpoint, { json: { playerUniqueId: 'somebody-else', coupons: [], referredFriends: [] } });
  }
  const op = operation();
  const calls = [rest.getPlayer('p1', undefined, op), rest.listCoupons('p1', op), rest.listReferrals('p1', 1, 5, op)];
  const invalid = expect.objectContaining({ code: 'UPSTREAM_INVALID_RESPONSE' });
  expect(await Promise.all(calls.map(failure))).toEqual([invalid, invalid, invalid]);
});

test('a deletion, or events, whose response names another player are not known to be done', async () => {
  const { upstream, rest } = await start();
  for (const endpoint of ['DELETE /player', 'POST /event'] as const) {
    upstream.on(endpoint, { json: { playerUniqueId: 'somebody-else' } }, { json: { playerUniqueId: 'p1' } });
  }
  const op = operation();
  const events = { playerUniqueId: 'p1', events: {} };
  const unknown = expect.objectContaining({ code: 'UPSTREAM_INVALID_RESPONSE', outcome: 'UNKNOWN', retryable: false });
  expect(await failure(rest.deletePlayer('p1', op))).toEqual(unknown);
  expect(await failure(rest.trackEvents(events, op))).toEqual(unknown);
  expect([await rest.deletePlayer('p1', op), await rest.trackEvents(events, op)]).toEqual(['deleted', undefined]);
});
