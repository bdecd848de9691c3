import { duel } from './duel.mjs';
import { startUpstream } from './programs.mjs';

const upstream = await startUpstream();
for (const attack of process.argv.slice(2)) {
  const r = await duel(upstream, { attack });
  console.log(
    attack.padEnd(28),
    JSON.stringify(r, (k, v) => (typeof v === 'number' ? Math.round(v * 100) / 100 : v)),
  );
}
await upstream.stop();
