/*
 * An attack beside a victim. The victim's own rate is measured immediately before and after, so that whatever else the machine
 * does falls on both. Every duel has a gateway of its own, with a heap of 256 MB.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { bearer, own, startGateway, startNginx, tokens } from './programs.mjs';
import { startVictim } from './victim.mjs';
import { client } from './wire.mjs';

const WARM_UP_MS = 2_000;
const QUIET_MS = 1_500;
/** How long an attack runs before the victim is counted, and then. */
const RAMP_MS = 500;
const ATTACK_MS = 4_000;
/** When a gateway must answer again, and how much more memory an attack may take. */
const RECOVERY_MS = 3_000;
const MAX_GROWTH_MB = 150;
/** How much the victim's own rate may vary; where it varies more, a row tells only the CPU time that the attack takes. */
const NOISE = 0.25;

/** Starts an attack of attacks.mjs. `stop` resolves to what the attacker counted. */
export async function startAttack(name, url) {
  const child = own(fork(fileURLToPath(new URL('attacker.mjs', import.meta.url))));
  const port = Number(new URL(url).port);
  child.send({ name, target: { url, port, authorization: await bearer('attacker'), tokens } });
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

/** Behind the shipped nginx: the victim keeps at least this share of its own rate. */
export async function behindNginx(upstream, { attack, victim: least, attackMs = ATTACK_MS }) {
  const gateway = await startGateway(upstream, { TRUST_PROXY: '1' });
  const nginx = await startNginx(gateway.port);
  const victim = startVictim(nginx.url, tokens.server);
  try {
    await victim.window(WARM_UP_MS);
    const measure = async (ms) => {
      const cpu = gateway.cpuMs();
      const seen = await victim.window(ms);
      return { ...seen, cpu: (gateway.cpuMs() - cpu) / ms };
    };
    const before = await measure(QUIET_MS);
    const memory = watchMemory(gateway);
    const running = await startAttack(attack, nginx.url);
    await sleep(RAMP_MS);
    const attacked = await measure(attackMs);
    const counts = await running.stop();
    await sleep(QUIET_MS / 2);
    const after = await measure(QUIET_MS);
    const rate = (before.perSecond + after.perSecond) / 2;
    const share = attacked.perSecond / rate;
    const noise = Math.abs(before.perSecond - after.perSecond) / rate;
    // The CPU time beyond what the victim's responses take.
    const core = attacked.cpu - ((before.cpu + after.cpu) / 2) * share;
    // Nothing is known of the victim's share where its own rate varies like this.
    const byCpu = noise > NOISE;
    const grown = memory.stop();
    return {
      ok: gateway.isAlive() && (share >= least || (byCpu && core <= 1 - least)) && !(grown > MAX_GROWTH_MB),
      byCpu,
      limit: `victim ≥ ${percent(least)}`,
      seen:
        `victim ${percent(share)} of ${rate.toFixed(0)}/s (varies by ${percent(noise)}), the attack takes ${percent(core)} of a core, ` +
        `failed ${JSON.stringify(attacked.failed)}, RSS + ${grown.toFixed(0)} MB, ` +
        `${gateway.isAlive() ? 'alive' : 'DEAD'}; attacker ${JSON.stringify(counts)}`,
    };
  } finally {
    victim.stop();
    await nginx.stop();
    await gateway.stop();
  }
}

/** Without an edge: the gateway lives, its memory is bounded, and it answers soon after the attack. */
export async function direct(upstream, { attack, attackMs = ATTACK_MS }) {
  const gateway = await startGateway(upstream);
  const send = client({ url: gateway.url, authorization: tokens.server, from: '127.0.0.1' });
  try {
    for (let left = 200; left > 0; left -= 1) await send({ query: '{ me { id } }' });
    const memory = watchMemory(gateway);
    const running = await startAttack(attack, gateway.url);
    await sleep(attackMs);
    const counts = await running.stop();
    const ended = performance.now();
    let ms = Number.NaN;
    while (gateway.isAlive() && Number.isNaN(ms) && performance.now() - ended < 3 * RECOVERY_MS) {
      const { status } = await send({ query: '{ me { id } }' });
      if (status === 200) ms = performance.now() - ended;
      else await sleep(50);
    }
    const grown = memory.stop();
    return {
      ok: gateway.isAlive() && ms <= RECOVERY_MS && !(grown > MAX_GROWTH_MB),
      limit: `alive, RSS + ${MAX_GROWTH_MB} MB, answers after ${RECOVERY_MS / 1_000} s`,
      seen:
        `${gateway.isAlive() ? 'alive' : 'DEAD'}, RSS + ${grown.toFixed(0)} MB, answers after ${ms.toFixed(0)} ms; ` +
        `attacker ${JSON.stringify(counts)}`,
    };
  } finally {
    await gateway.stop();
  }
}

const percent = (share) => `${(100 * share).toFixed(0)} %`;

/** `stop` returns how much the memory of a gateway has grown at most, in megabytes. */
function watchMemory(gateway) {
  const before = gateway.rssMb();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, gateway.rssMb());
  }, 50);
  return {
    stop() {
      clearInterval(timer);
      return most - before;
    },
  };
}
