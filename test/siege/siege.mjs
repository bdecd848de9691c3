/*
 * Attacks on the built gateway in production form: `npm run siege`, or `npm run siege -- --only chunks` for the rows with
 * that in their names, `--place direct` or `nginx` for one place. Everything happens on the loopback, within bounds, and ends by
 * itself. A row that does not hold is repeated once, since other programs share the machine; exit code 1 when it fails twice.
 */
import { parseArgs } from 'node:util';
import { behindNginx, direct } from './duel.mjs';
import { hasNginx, startUpstream } from './programs.mjs';
import { ATTACKS, CHECKS } from './rows.mjs';

const TRIES = 2;
const options = { only: { type: 'string' }, place: { type: 'string' } };
const { only, place } = parseArgs({ options }).values;

const rows = [
  ...ATTACKS.flatMap((row) => [
    { name: row.name, place: 'nginx', check: (upstream) => behindNginx(upstream, row) },
    { name: row.name, place: 'direct', check: (upstream) => direct(upstream, row) },
  ]),
  ...CHECKS.map((row) => ({ ...row, place: 'direct' })),
].filter((row) => (only === undefined || row.name.includes(only)) && (place === undefined || row.place === place));

/** Prints one line for a row. Returns whether it holds. */
async function run({ name, place, limit, check }) {
  const upstream = await startUpstream();
  try {
    for (let attempt = 1; ; attempt += 1) {
      const result = await check(upstream);
      const again = attempt > 1 ? ` (try ${attempt})` : '';
      const word = result.ok ? 'holds ' : attempt < TRIES ? 'again ' : 'BROKEN';
      console.log(`${word} | ${place.padEnd(6)} | ${name} | ${result.limit ?? limit} | ${result.seen}${again}`);
      if (result.ok || attempt === TRIES) return result.ok;
    }
  } finally {
    await upstream.stop();
  }
}

if (!hasNginx) console.log('nginx is not installed: the rows behind it are skipped.');
const started = rows.filter((row) => hasNginx || row.place !== 'nginx');
let holding = 0;
for (const row of started) if (await run(row)) holding += 1;
console.log(`${holding} of ${started.length} rows hold`);
process.exitCode = holding < started.length ? 1 : 0;
process.exit();
