/*
 * Attacks on the built gateway in production form: `npm run siege`, or `npm run siege -- --only chunks` for the rows with
 * that in their names, `--place direct` or `nginx` for one place. Everything happens on the loopback, within bounds, and ends by
 * itself. A row that does not hold, or that holds by CPU time alone because the machine was busy, is repeated once; exit code 1
 * when it fails twice.
 */
import { parseArgs } from 'node:util';
import { startProgress } from '../../tools/progress.mjs';
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

/** Prints one line for a row. Returns its last result. */
async function run({ name, place, limit, check }) {
  const upstream = await startUpstream();
  try {
    for (let attempt = 1; ; attempt += 1) {
      const result = await check(upstream);
      const again = attempt > 1 ? ` (try ${attempt})` : '';
      const isClear = result.ok && !result.byCpu;
      const word = isClear ? 'holds ' : attempt < TRIES ? 'again ' : result.ok ? 'by CPU' : 'BROKEN';
      progress.print(`${word} | ${place.padEnd(6)} | ${name} | ${result.limit ?? limit} | ${result.seen}${again}`);
      if (isClear || attempt === TRIES) return result;
    }
  } finally {
    await upstream.stop();
  }
}

if (!hasNginx) console.log('nginx is not installed: the rows behind it are skipped.');
const started = rows.filter((row) => hasNginx || row.place !== 'nginx');
const progress = startProgress(started.length);
const results = [];
for (const row of started) {
  progress.step(`${row.place}, ${row.name}`);
  results.push(await run(row));
}
progress.end();
const holding = results.filter(({ ok }) => ok);
const byCpu = holding.filter((result) => result.byCpu).length;
console.log(`${holding.length} of ${results.length} rows hold, ${byCpu} of them by CPU time alone`);
process.exitCode = holding.length < results.length ? 1 : 0;
process.exit();
