import { expect, test } from '@jest/globals';
import { post } from '../kit/post.ts';
import { bearer, secretSigner, UNLIMITED } from '../kit/tokens.ts';
import { until } from '../kit/until.ts';
import type { EndpointName, Script } from '../kit/upstream.ts';
import { start, upstream } from './setup.ts';

/* The built program, while one endpoint of the REST service fails for every player: what does not need it is served. */

const OPERATIONS: Record<string, [query: string, needs: EndpointName[]]> = {
  attributes: ['query ($id: ID!) { player(playerUniqueId: $id) { attributes { city } } }', ['GET /player']],
  coupons: ['query ($id: ID!) { player(playerUniqueId: $id) { coupons { code } } }', ['GET /coupon']],
  friends: ['query ($id: ID!) { player(playerUniqueId: $id) { referredFriends { total } } }', ['GET /referrals']],
  upsert: [
    'mutation ($id: ID!) { upsertPlayer(input: { playerUniqueId: $id }) { userErrors { code } } }',
    ['POST /player'],
  ],
  event: [
    'mutation ($id: ID!) { trackEvents(input: { playerUniqueId: $id, events: [{ name: "visit" }] }) { eventNames } }',
    ['POST /event'],
  ],
};

const SCRIPTS: [failing: EndpointName, how: string, script: Script][] = [
  ['GET /coupon', 'answers 500', { status: 500 }],
  ['POST /event', 'answers 500', { status: 500 }],
  ['GET /referrals', 'hangs', { fault: 'hang' }],
];

test.each(SCRIPTS)('while %s %s, 0 of 500 other operations are refused', async (failing, _how, script) => {
  const gateway = await start({
    // Long enough for a busy machine to answer what does not hang. The breaker opens after the first round of those that do.
    REST_TIMEOUT_MS: '2000',
    MAX_OPERATIONS_PER_SECOND: '1000',
    MAX_OPERATIONS_BURST: '2000',
  });
  upstream.on(failing, script);
  const send = (name: string, player: number) =>
    post(gateway.url, { query: OPERATIONS[name]?.[0], variables: { id: `p${player}` } });
  const names = Object.keys(OPERATIONS);
  const isFailing = (name: string) => OPERATIONS[name]?.[1].includes(failing) === true;
  const [broken = ''] = names.filter(isFailing);
  const others = names.filter((name) => !isFailing(name));
  // Every fifth operation needs the failing endpoint, for another player each time.
  const answers = [];
  const broke = [];
  for (let round = 0; round < 25; round += 1) {
    const sent = others.flatMap((name, kind) => Array.from({ length: 5 }, (_, n) => send(name, round * 5 + n + kind)));
    broke.push(...Array.from({ length: 5 }, (_, n) => send(broken, round * 5 + n)));
    answers.push(...(await Promise.all(sent)));
    // Of a service that hangs, these open the breaker. Later ones are trials, for which nobody waits.
    if (round < 3) await Promise.all(broke);
  }
  for (const { codes } of await Promise.all(broke)) expect(codes[0]).toMatch(/^UPSTREAM_(UNAVAILABLE|TIMEOUT)$/);
  expect(answers.filter(({ status, codes }) => status !== 200 || codes.length > 0)).toEqual([]);
  expect(answers).toHaveLength(500);
  const endpoint = upstream.requests.find((request) => request.endpoint === failing);
  const { text } = await gateway.page('/metrics');
  const closed = [...text.matchAll(/^rest_breaker\{endpoint="(.+)",state="closed"\} 0$/gm)].map(([, name]) => name);
  expect([closed.length, closed[0]?.split(' ')[0]]).toEqual([1, endpoint?.method]);
  const readiness = JSON.parse((await gateway.page('/readyz')).text);
  expect([
    readiness.ready,
    (readiness.conditions ?? []).filter((one: string) => !one.endsWith(String(closed[0]))),
  ]).toEqual([true, []]);
});

test('while coupons hang, callers that read them leave places to those that do not', async () => {
  const signer = secretSigner();
  const env = { ...signer.env, ...UNLIMITED, REST_CONNECTIONS: '4', MAX_CONCURRENT_OPERATIONS: '80' };
  // Longer than the test: none of those that hang ends.
  Object.assign(env, { REST_TIMEOUT_MS: '60000', OPERATION_TIMEOUT_MS: '120000' });
  const gateway = await start(env);
  upstream.on('GET /coupon', { fault: 'hang' });
  const ask = (player: string, query: string) =>
    post(gateway.url, { query }, bearer(signer, { sub: player, scope: 'players:read coupons:read' }));
  const wallets = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) => ask(`p${from + n}`, '{ me { attributes { city } coupons { code } } }'));
  const hanging = wallets(100, 4);
  await until(() => upstream.calls().filter((call) => call.endsWith('/coupon')).length === 4);
  const waiting = wallets(200, 16);
  await gateway.pageWhen('/metrics', ({ text }) => text.includes('rest_requests_queued 16\n'));
  const begun = performance.now();
  const others = [];
  do others.push(await ask('p1', '{ me { attributes { city } } }'));
  while (performance.now() - begun < 1_200);
  // Those with a place wait; all later ones have the rest of their screen at once.
  for (let from = 300; from < 400; from += 10) {
    for (const { status, data, codes } of await Promise.all(wallets(from, 10)))
      expect([status, codes, data?.me?.attributes]).toEqual([200, ['OVERLOADED'], { city: 'London' }]);
    others.push(await ask('p1', '{ me { attributes { city } } }'));
  }
  expect(others.filter(({ status, codes }) => status !== 200 || codes.length > 0)).toEqual([]);
  gateway.child.kill('SIGKILL');
  await Promise.allSettled([...hanging, ...waiting]);
});
