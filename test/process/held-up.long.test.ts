import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { atEnd } from '../kit/at-end.ts';
import { post } from '../kit/post.ts';
import type { GatewayProcess } from '../kit/process.ts';
import { bearer, secretSigner } from '../kit/tokens.ts';
import { start, upstream } from './setup.ts';

/* A process that is suspended while calls wait and are in flight, as by a snapshot of its machine. */

const signer = secretSigner();
const as = (sub: string, scope = '') =>
  bearer(signer, { sub, scope: `players:read players:write players:delete events:write ${scope}` });
const read = ({ url }: GatewayProcess, n: number) =>
  post(url, { query: '{ me { attributes { firstName } } }' }, as(`p${n}`));

/** Suspends the process until the operations that have begun have no time left. */
async function holdUp({ child }: GatewayProcess, ms: number, meanwhile = () => {}) {
  child.kill('SIGSTOP');
  meanwhile();
  await delay(ms);
  child.kill('SIGCONT');
}

test('of 120 reads and 15 writes, those in flight get their responses, those that wait are OVERLOADED', async () => {
  const gateway = await start({ ...signer.env, REST_TIMEOUT_MS: '8000', OPERATION_TIMEOUT_MS: '8000' });
  let release = () => {};
  const after = new Promise<void>((resolve) => {
    release = resolve;
  });
  for (const endpoint of ['GET /player', 'POST /player', 'POST /event', 'DELETE /player'] as const)
    upstream.on(endpoint, () => after.then(() => 'usual' as const));
  const fields = [
    'upsertPlayer(input: { playerUniqueId: "p1", attributes: { firstName: "Ada" } }) { player { id } }',
    'trackEvents(input: { playerUniqueId: "p1", events: [{ name: "visit" }] }) { eventNames }',
    'deletePlayer(input: { playerUniqueId: "p1" }) { deletedPlayerUniqueId }',
  ];
  const writes = Array.from({ length: 15 }, (_, n) =>
    post(gateway.url, { query: `mutation { ${fields[n % 3]} }` }, as('job', 'any-player')),
  );
  const reads = Array.from({ length: 120 }, (_, n) => read(gateway, n));
  await upstream.received(15 + 64);
  await gateway.pageWhen('/metrics', ({ text }) => /^rest_requests_queued 56$/m.test(text));
  await holdUp(gateway, 9_000, release);
  // The player of an upsert is read after it, and its operation has no time left.
  const told = (await Promise.all(writes)).map(({ errors }) =>
    errors.map(({ extensions }) => [extensions['code'], extensions['outcome']].join()).join(),
  );
  expect(told).toEqual(Array.from({ length: 15 }, (_, n) => (n % 3 === 0 ? 'OVERLOADED,DONE' : '')));
  const codes = (await Promise.all(reads)).map((answer) => answer.codes.join());
  expect(codes.sort()).toEqual([...Array(64).fill(''), ...Array(56).fill('OVERLOADED')]);
  expect(JSON.parse((await gateway.page('/readyz')).text)).toEqual({ ready: true });
  // A connection that was not used for so long may be closed.
  expect((await read(gateway, 1).catch(() => read(gateway, 1))).codes).toEqual([]);
});

/** The URL of a server that accepts connections, and never begins with TLS. */
async function startSilent(): Promise<string> {
  const silent = createServer((socket) => socket.on('error', () => undefined).resume());
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  atEnd(async () => void silent.close());
  return `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
}

test('calls that only wait for their connection to open are OVERLOADED, and no breaker opens', async () => {
  const REST_BASE_URL = await startSilent();
  const gateway = await start({ ...signer.env, REST_BASE_URL, REST_TIMEOUT_MS: '3000', OPERATION_TIMEOUT_MS: '3000' });
  const reads = Array.from({ length: 20 }, (_, n) => read(gateway, n));
  await gateway.pageWhen('/metrics', ({ text }) => /^rest_requests_active 20$/m.test(text));
  await holdUp(gateway, 5_000);
  expect((await Promise.all(reads)).map(({ codes }) => codes)).toEqual(Array(20).fill(['OVERLOADED']));
  expect(JSON.parse((await gateway.page('/readyz')).text)).toEqual({ ready: true });
  expect((await read(gateway, 1)).codes).toEqual(['UPSTREAM_TIMEOUT']);
});

test('without a suspension, a service whose connections do not open is UPSTREAM_TIMEOUT, and the breaker opens', async () => {
  // The timers of undici can be late by a second.
  const gateway = await start({ ...signer.env, REST_BASE_URL: await startSilent(), REST_TIMEOUT_MS: '3010' });
  const reads = await Promise.all(Array.from({ length: 20 }, (_, n) => read(gateway, n)));
  expect(reads.map(({ codes }) => codes)).toEqual(Array(20).fill(['UPSTREAM_TIMEOUT']));
  expect(JSON.parse((await gateway.page('/readyz')).text)).toMatchObject({
    ready: true,
    conditions: expect.anything(),
  });
});
