/*
 * CPU time per charged unit of operations of every kind: what one unit of a caller's limit can cost the gateway at most. An
 * operation that is refused before it is charged counts as one unit. The same requests without a token are not charged at all,
 * so their time is that of one request.
 *
 *   npm run bench:cost                    a table, the dearest shapes first; fails when one costs more than its bound
 *   npm run bench:cost -- --only events   the shapes with that in their names
 *
 * Needs nginx for the REST service, as `npm run bench` does. Only the limits of operations are raised, so that the requests of
 * one shape do not meet them; sizes have their defaults.
 */
import { parseArgs } from 'node:util';
import { Agent, request } from 'undici';
import { startOurs, tokenOf } from './processes.mjs';
import { SHAPES } from './shapes.mjs';
import { startUpstream } from './upstream.mjs';
import { headersOf } from './workloads.mjs';

const MAX_UNIT_MS = 2.5;
const MAX_TOKENLESS_MS = 2;
const WARM_UP = 150;
const REQUESTS = 120;
const ROUNDS = 3;
const PARALLEL = 8;
const UNLIMITED = Object.fromEntries(
  ['OPERATIONS', 'SERVER_OPERATIONS', 'COUPON_READS', 'SERVER_COUPON_READS', 'FAILED_AUTHENTICATIONS'].flatMap(
    (name) => [
      [`MAX_${name}_PER_SECOND`, '100000'],
      [`MAX_${name}_BURST`, '1000000'],
    ],
  ),
);

const { only } = parseArgs({ options: { only: { type: 'string', default: '' } } }).values;
const shapes = Object.entries(SHAPES).filter(([name]) => name.includes(only));
if (shapes.length === 0) throw new Error(`no shape has "${only}" in its name`);

const upstream = await startUpstream();
const gateway = await startOurs(upstream.url, 'alone', [], UNLIMITED);
/** Tells the units of an operation. */
const development = await startOurs(upstream.url, 'others', [], { ...UNLIMITED, NODE_ENV: 'development' });
const dispatcher = new Agent({ connections: PARALLEL });
/** Each shape has a caller of its own, because a caller may send only some hundred new documents in a few seconds. */
const tokenFor = (name, { token }) =>
  token === 'own'
    ? tokenOf('own', '')
    : tokenOf(name, 'any-player events:write players:write figures:write schema:read');
let dear = 0;
try {
  // The code of all shapes is compiled before one of them is measured.
  for (const [name, shape] of shapes) await sendAll(shape, await tokenFor(`before ${name}`, shape), WARM_UP);
  const rows = [];
  for (const [name, shape] of shapes) {
    const token = await tokenFor(name, shape);
    const units = await unitsOf(shape, token);
    const requestMs = await cpuMs(shape, token);
    rows.push({
      shape: name,
      units,
      'ms per unit': Number((requestMs / units).toFixed(2)),
      'ms, no token': Number((await cpuMs(shape)).toFixed(2)),
    });
  }
  rows.sort((a, b) => b['ms per unit'] - a['ms per unit']);
  console.table(rows);
  dear = rows.filter((row) => row['ms per unit'] > MAX_UNIT_MS || row['ms, no token'] > MAX_TOKENLESS_MS).length;
  console.log(
    `${rows.length} shapes; ${dear} over ${MAX_UNIT_MS} ms per unit or ${MAX_TOKENLESS_MS} ms without a token`,
  );
} finally {
  await dispatcher.close();
  await Promise.all([gateway.stop(), development.stop()]);
  await upstream.stop();
}
process.exitCode = dear > 0 ? 1 : 0;

/** The median of the rounds, in milliseconds of CPU time for one request. */
async function cpuMs(shape, token) {
  await sendAll(shape, token, WARM_UP);
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = await gateway.usage();
    await sendAll(shape, token, REQUESTS);
    const after = await gateway.usage();
    rounds.push((after.cpuUs - before.cpuUs) / 1_000 / REQUESTS);
  }
  return rounds.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)];
}

async function sendAll(shape, token, count) {
  let left = count;
  await Promise.all(
    Array.from({ length: PARALLEL }, async () => {
      while (left > 0) {
        left -= 1;
        const { status } = await send(gateway, shape, token);
        if (token === undefined ? status !== 401 : status === 401 || status === 429 || status >= 500) {
          throw new Error(`${shape.query ?? 'a body'}: unexpected status ${status}`);
        }
      }
    }),
  );
}

/** What a request takes from the limit of its caller, as the responses announce it. */
async function unitsOf(shape, token) {
  const left = async () => Number(/;r=(\d+);/.exec((await send(development, shape, token)).limit)?.[1]);
  const units = (await left()) - (await left());
  // A window ended in between.
  return units > 0 ? units : await unitsOf(shape, token);
}

async function send({ url }, { query, variables = { id: 'p1' }, body }, token) {
  const { authorization, ...headers } = headersOf(token);
  const response = await request(`${url}/graphql`, {
    method: 'POST',
    dispatcher,
    headers: token === undefined ? headers : { ...headers, authorization },
    body: body ?? JSON.stringify({ query, variables }),
  });
  await response.body.dump();
  return { status: response.statusCode, limit: response.headers.ratelimit };
}
