import { API_KEY, type EndpointName, type Script, SECRET_KEY } from '../kit/upstream.ts';
import { GOOD, operation, PLAYER, type Row, rows } from './row.ts';

/** What a broken REST service might say, everything in it secret. */
const TALKATIVE = JSON.stringify({
  code: 9,
  message: `SELECT * FROM players -- ${API_KEY} ${SECRET_KEY}`,
  stack: 'Error: boom\n    at /srv/rewards/index.js:1:1',
  email: 'somebody@example.org',
});
const told = { hasNot: /SELECT|boom|rewards\/index|somebody@/ };
const location = { location: 'http://internal.example/keys' };
const player = (script: Script): { script: [EndpointName, Script] } => ({ script: ['GET /player', script] });
const fails = (status: number, code: string) => ({
  ...player({ status, raw: TALKATIVE, headers: location }),
  code,
});

/** The REST service fails, and tells more than it should; the client learns what kind of failure it was. */
export const leaks: Row[] = [
  ...rows(
    { status: 200, data: { me: null }, upstream: [PLAYER], code: 'UPSTREAM_INVALID_RESPONSE', ...told },
    ['a REST service that answers 400', GOOD, fails(400, 'UPSTREAM_REJECTED')],
    ['a REST service that answers 401', GOOD, fails(401, 'UPSTREAM_MISCONFIGURED')],
    ['a REST service that answers 403', GOOD, fails(403, 'UPSTREAM_MISCONFIGURED')],
    ['a REST service that answers 409', GOOD, fails(409, 'UPSTREAM_REJECTED')],
    ['a REST service that answers 302', GOOD, fails(302, 'UPSTREAM_INVALID_RESPONSE')],
    [
      'a REST service that answers with a page',
      GOOD,
      player({ raw: `<html>${TALKATIVE}</html>`, headers: { 'content-type': 'text/html' } }),
    ],
    ['a REST service that answers with half of JSON', GOOD, player({ raw: TALKATIVE.slice(0, -5) })],
    [
      'a REST service that answers about somebody else',
      '{ me { id attributes { email } } }',
      player({ json: { playerUniqueId: 'p2', playerAttributes: { email: 'somebody@example.org' } } }),
    ],
  ),
  {
    name: 'a REST service that sends headers of its own',
    send: operation(GOOD),
    ...player({
      json: { playerUniqueId: 'p1' },
      headers: { 'set-cookie': 'session=secret', 'x-powered-by': 'Rewards 1.0' },
    }),
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
