import { API_KEY, SECRET_KEY } from '../kit/upstream.ts';
import { GOOD, operation, PLAYER, type Row } from './row.ts';

/** What a broken REST service might say, everything in it secret. */
const TALKATIVE = JSON.stringify({
  code: 9,
  message: `SELECT * FROM players -- ${API_KEY} ${SECRET_KEY}`,
  stack: 'Error: boom\n    at /srv/rewards/index.js:1:1',
  email: 'somebody@example.org',
});
const told = { hasNot: /SELECT|boom|rewards\/index|somebody@/ };

/** The REST service fails, and tells more than it should; the client learns what kind of failure it was. */
export const leaks: Row[] = [
  ...(
    [
      [400, 'UPSTREAM_REJECTED'],
      [401, 'UPSTREAM_MISCONFIGURED'],
      [403, 'UPSTREAM_MISCONFIGURED'],
      [409, 'UPSTREAM_REJECTED'],
      [302, 'UPSTREAM_INVALID_RESPONSE'],
    ] as const
  ).map(
    ([status, code]): Row => ({
      name: `a REST service that answers ${status}`,
      send: operation(GOOD),
      script: ['GET /player', { status, raw: TALKATIVE, headers: { location: 'http://internal.example/keys' } }],
      status: 200,
      code,
      data: { me: null },
      upstream: [PLAYER],
      ...told,
    }),
  ),
  {
    name: 'a REST service that answers with a page',
    send: operation(GOOD),
    script: ['GET /player', { raw: `<html>${TALKATIVE}</html>`, headers: { 'content-type': 'text/html' } }],
    status: 200,
    code: 'UPSTREAM_INVALID_RESPONSE',
    data: { me: null },
    upstream: [PLAYER],
    ...told,
  },
  {
    name: 'a REST service that answers with half of JSON',
    send: operation(GOOD),
    script: ['GET /player', { raw: TALKATIVE.slice(0, -5) }],
    status: 200,
    code: 'UPSTREAM_INVALID_RESPONSE',
    data: { me: null },
    upstream: [PLAYER],
    ...told,
  },
  {
    name: 'a REST service that answers about somebody else',
    send: operation('{ me { id attributes { email } } }'),
    script: ['GET /player', { json: { playerUniqueId: 'p2', playerAttributes: { email: 'somebody@example.org' } } }],
    status: 200,
    code: 'UPSTREAM_INVALID_RESPONSE',
    data: { me: null },
    upstream: [PLAYER],
    ...told,
  },
  {
    name: 'a REST service that sends headers of its own',
    send: operation(GOOD),
    script: [
      'GET /player',
      { json: { playerUniqueId: 'p1' }, headers: { 'set-cookie': 'session=secret', 'x-powered-by': 'Rewards 1.0' } },
    ],
    status: 200,
    data: { me: { id: 'p1' } },
    upstream: [PLAYER],
    hasNot: /session=secret|powered/i,
  },
  {
    name: 'a REST service that refuses a write, with the contacts in its answer',
    send: operation(
      'mutation { upsertPlayer(input: { playerUniqueId: "p1", attributes: { email: "x@example.org" } }) { userErrors { code message } } }',
    ),
    as: 'server',
    script: ['POST /player', { status: 400, raw: TALKATIVE }],
    status: 200,
    upstream: ['POST /integrations/player'],
    has: /REJECTED/,
    ...told,
  },
];
