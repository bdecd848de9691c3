/*
 * An attack beside a victim. Windows with and without the attack alternate, so that whatever else the machine does falls
 * on both; the figure is a ratio. Every duel has a gateway of its own.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { own, serverToken, startGateway, token } from './programs.mjs';
import { startVictim } from './victim.mjs';

const WARM_UP_MS = 2_000;
const ROUNDS = 2;
const QUIET_MS = 1_000;
/** How long an attack runs before the victim is counted. */
const RAMP_MS = 500;
const ATTACK_MS = 2_000;
/** How much more memory an attack may take, in megabytes. */
export const MAX_GROWTH_MB = 60;

/** Starts an attack of attacks.mjs. `stop` resolves to what the attacker counted. */
export async function startAttack(name, gateway, authorization = `Bearer ${token('attacker')}`) {
  const child = own(fork(fileURLToPath(new URL('attacker.mjs', import.meta.url))));
  const { port } = new URL(gateway.url);
  child.send({ name, target: { url: gateway.url, port: Number(port), authorization } });
  await once(child, 'message');
  return {
    async stop() {
      child.send('stop');
      const [counts] = await once(child, 'message');
      child.kill('SIGKILL');
      await once(child, 'exit');
      return counts;
    },
  };
}

/** Runs an attack beside a victim. Resolves to figures: ratios of the victim's answers and of its p50, memory, CPU. */
export async function duel(upstream, { attack, env, victim: options, delayMs = 5 }) {
  upstream.become({ delayMs, digits: 0, pauses: 0 });
  const gateway = await startGateway(upstream, env);
  const victim = startVictim(gateway.url, { authorization: `Bearer ${serverToken()}`, ...options });
  let peakMb = 0;
  const memory = setInterval(() => {
    peakMb = Math.max(peakMb, gateway.rssMb());
  }, 50);
  try {
    await victim.window(WARM_UP_MS);
    const calmMb = peakMb;
    const counts = {};
    const measure = async (ms) => {
      const before = gateway.cpuMs();
      const seen = await victim.window(ms);
      return { ...seen, cpu: (gateway.cpuMs() - before) / ms };
    };
    const quiet = [await measure(QUIET_MS)];
    const attacked = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const running = await startAttack(attack, gateway);
      await sleep(RAMP_MS);
      attacked.push(await measure(ATTACK_MS));
      for (const [what, times] of Object.entries(await running.stop())) counts[what] = (counts[what] ?? 0) + times;
      await sleep(QUIET_MS / 2);
      quiet.push(await measure(QUIET_MS));
    }
    const mean = (windows, figure) => windows.reduce((sum, window) => sum + window[figure], 0) / windows.length;
    const rates = quiet.map(({ perSecond }) => perSecond);
    const [rate, attackedRate] = [mean(quiet, 'perSecond'), mean(attacked, 'perSecond')];
    return {
      answers: attackedRate / rate,
      // How much the machine varies by itself.
      noise: (Math.max(...rates) - Math.min(...rates)) / rate,
      p50: [mean(quiet, 'p50'), mean(attacked, 'p50')],
      p99: [mean(quiet, 'p99'), mean(attacked, 'p99')],
      // The CPU time beyond what the victim's answers take.
      core: mean(attacked, 'cpu') - (mean(quiet, 'cpu') * attackedRate) / rate,
      failed: attacked.reduce((sum, { failed }) => sum + failed, 0),
      statuses: attacked.map(({ statuses }) => statuses),
      grownMb: peakMb - calmMb,
      alive: gateway.isAlive(),
      counts,
    };
  } finally {
    clearInterval(memory);
    await victim.stop();
    await gateway.stop();
  }
}
