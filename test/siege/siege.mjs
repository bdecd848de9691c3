/*
 * Attacks on the built gateway in production form: `npm run siege`, or `npm run siege -- --only chunks` for the rows with
 * that in their names. Everything happens on the loopback, within bounds, and ends by itself. A broken limit is tried
 * again, since other programs share the machine; exit code 1 when it breaks twice. With `--survive` the speed of the machine
 * does not count: a duel is lost when the gateway dies or grows too much, and rows that are times alone are left out.
 */
import { parseArgs } from 'node:util';
import { duel, MAX_GROWTH_MB } from './duel.mjs';
import { OWN } from './own.mjs';
import { startUpstream } from './programs.mjs';
import { ROWS } from './rows.mjs';

const TRIES = 2;
const NOISY = 0.25;
const { only, survive } = parseArgs({ options: { only: { type: 'string' }, survive: { type: 'boolean' } } }).values;

/** One line for each row. */
async function run(row) {
  const upstream = await startUpstream();
  try {
    for (let attempt = 1; ; attempt += 1) {
      const { ok, limit, seen } = row.attack
        ? await fight(upstream, row)
        : { limit: row.limit, ...(await row.check(upstream)) };
      if (!ok && attempt < TRIES) continue;
      const again = attempt > 1 ? ` (try ${attempt})` : '';
      console.log(`${ok ? 'holds ' : 'BROKEN'} | ${row.name} | ${limit} | ${seen}${again}`);
      return ok;
    }
  } finally {
    await upstream.stop();
  }
}

/**
 * On a machine that others use, the answers of the victim vary by themselves. Where they vary more than NOISY without an
 * attack, the CPU time that the attack takes decides.
 */
async function fight(upstream, row) {
  const { answers, noise, core, p50, failed, grownMb, alive, counts } = await duel(upstream, row);
  const percent = (share) => `${(100 * share).toFixed(0)} %`;
  const byCpu = noise > NOISY && core <= 1 - row.answers;
  return {
    ok: alive && (survive || answers >= row.answers || byCpu) && !(grownMb > MAX_GROWTH_MB),
    limit: `victim ≥ ${percent(row.answers)}, RSS + ${MAX_GROWTH_MB} MB, alive`,
    seen:
      `victim ${percent(answers)}${byCpu ? ` (varies by ${percent(noise)}, so CPU decides)` : ''}, ${failed} failed, ` +
      `p50 ${p50.map((ms) => ms.toFixed(0)).join(' → ')} ms, ${percent(core)} of a core, RSS + ${grownMb.toFixed(0)} MB, ` +
      `${alive ? 'alive' : 'DEAD'}; the attacker saw ${JSON.stringify(counts)}`,
  };
}

const rows = [...ROWS, ...OWN]
  .filter(({ name }) => only === undefined || name.includes(only))
  .filter(({ timed }) => !survive || !timed);
// A row that only waits runs beside the others.
const beside = rows.filter((row) => row.beside).map(run);
const results = [];
for (const row of rows.filter((row) => !row.beside)) results.push(await run(row));
results.push(...(await Promise.all(beside)));
const broken = results.filter((ok) => !ok).length;
console.log(`${results.length - broken} of ${results.length} rows hold`);
process.exitCode = broken > 0 ? 1 : 0;
