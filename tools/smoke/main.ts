/* `npm run smoke -- URL TOKEN`: five checks of a gateway that runs, after a rollout. It sends one event. */
import { randomUUID } from 'node:crypto';
import * as z from 'zod';

const EVENT = 'smoke_test';
const USAGE = `Usage: npm run smoke -- URL TOKEN [PLAYER]
(in the image: node dist/smoke.js URL TOKEN [PLAYER])

TOKEN needs the scopes players:read and events:write:${EVENT}. The player is the token's own; a token without one needs PLAYER,
the id of a player for tests. The event ${EVENT} is sent once.`;
const TIMEOUT_MS = 10_000;

const RESPONSE = z.object({
  data: z
    .object({
      player: z.object({ id: z.string() }).nullish(),
      trackEvents: z.object({ userErrors: z.array(z.object({ code: z.string() })) }).nullish(),
    })
    .nullish(),
  errors: z.array(z.object({ message: z.string(), extensions: z.object({ code: z.string() }).optional() })).default([]),
});

const [url = '', token = '', player] = process.argv.slice(2);
if (!URL.canParse(url) || !token) {
  console.error(USAGE);
  process.exit(1);
}
const endpoint = new URL(url);
if (endpoint.pathname === '/') endpoint.pathname = '/graphql';
const idempotencyKey = randomUUID();
let playerUniqueId = player;

/** Sends an operation; resolves to the status, the data, and the codes of errors and user errors. */
async function send(query: string, variables: object, authorization = `Bearer ${token}`) {
  const headers = { 'content-type': 'application/json', authorization };
  const body = JSON.stringify({ query, variables });
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(endpoint, { method: 'POST', headers, body, signal, redirect: 'manual' });
  const text = await response.text();
  const { data: read } = RESPONSE.safeParse(text.startsWith('{') ? JSON.parse(text) : undefined);
  if (!read) throw new Error(`status ${response.status}, and no response of GraphQL: ${text.slice(0, 100)}`);
  const codes = read.errors.map(({ message, extensions }) => `${extensions?.code ?? ''} ${message}`.trim());
  const userErrors = read.data?.trackEvents?.userErrors.map(({ code }) => code) ?? [];
  return { status: response.status, data: read.data, problems: [...codes, ...userErrors] };
}

const ME = 'query Smoke { player: me { id } }';
const PLAYER = 'query Smoke($id: ID!) { player(playerUniqueId: $id) { id } }';
const EVENTS = 'mutation SmokeEvents($input: TrackEventsInput!) { trackEvents(input: $input) { userErrors { code } } }';
const sendEvent = (check: string) => {
  if (playerUniqueId === undefined) throw new Error('not tried without a player');
  const events = [{ name: EVENT, metadata: { check } }];
  return send(EVENTS, { input: { playerUniqueId, events, idempotencyKey } });
};
const assertNone = ({ problems }: { problems: string[] }) => {
  if (problems.length > 0) throw new Error(problems.join('; '));
};

const CHECKS: [string, () => Promise<void>][] = [
  [
    'a query reads the player',
    async () => {
      const answer = await (player === undefined ? send(ME, {}) : send(PLAYER, { id: player }));
      assertNone(answer);
      playerUniqueId ??= answer.data?.player?.id;
      if (!answer.data?.player) throw new Error('there is no such player; give the id of one as PLAYER');
    },
  ],
  ['an event is sent', async () => assertNone(await sendEvent('first'))],
  ['the same event with its key again has the same response', async () => assertNone(await sendEvent('first'))],
  [
    'the same key with other data is refused',
    async () => {
      const { problems } = await sendEvent('other');
      if (problems.join() !== 'INVALID')
        throw new Error(problems.join('; ') || 'it was accepted: do replicas share Redis?');
    },
  ],
  [
    'a wrong token is refused',
    async () => {
      const { status } = await send(ME, {}, 'Bearer a-wrong-token');
      if (status !== 401) throw new Error(`status ${status}: 401 was expected`);
    },
  ],
];

for (const [title, check] of CHECKS) {
  const began = performance.now();
  try {
    await check();
    console.log(`ok      ${title} (${Math.round(performance.now() - began)} ms)`);
  } catch (error) {
    const { message, cause } = error instanceof Error ? error : new Error(String(error));
    console.log(`FAILED  ${title}: ${message}${cause instanceof Error ? ` (${cause.message})` : ''}`);
    process.exitCode = 1;
  }
}
