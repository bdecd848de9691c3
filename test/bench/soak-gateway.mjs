/* The gateway of the soak: the built program in a process of its own, set up as in production. */
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FLAGS, MAIN } from './production.mjs';

/** Lets the memory be measured without what waits for the garbage collector. */
const COLLECT_ON_SIGNAL = ['--expose-gc', '--import', 'data:text/javascript,process.on("SIGUSR2",()=>gc())'];
const SCOPES = [
  'players:read',
  'players:write',
  'players:delete',
  'coupons:read',
  'referrals:read',
  'events:write',
  'any-player',
];

/** Starts it in front of the REST service at `restUrl`, on ports of its own. */
export async function startSoakGateway(restUrl) {
  const folder = await mkdtemp(join(tmpdir(), 'soak-'));
  const token = randomBytes(32).toString('base64url');
  const entry = { name: 'soak', sha256: createHash('sha256').update(token).digest('hex'), scopes: SCOPES };
  await writeFile(join(folder, 'tokens.json'), JSON.stringify([entry]));
  const child = spawn(process.execPath, [...FLAGS, ...COLLECT_ON_SIGNAL, MAIN], {
    env: {
      NODE_ENV: 'production',
      PORT: '0',
      MANAGEMENT_PORT: '0',
      REST_BASE_URL: restUrl,
      REST_API_KEY: 'soak-api-key',
      REST_SECRET_KEY: 'soak-secret-key',
      CLIENT_TOKENS_FILE: join(folder, 'tokens.json'),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { graphql, management } = await announced(child);

  /** The sum of a metric over its labels. */
  async function metrics() {
    const page = await (await fetch(`${management}/metrics`)).text();
    return (name) =>
      page
        .split('\n')
        .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
        .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }

  return {
    url: graphql,
    token,
    metrics,
    /** What is in use after everything that can be collected has been, in megabytes. */
    async memory() {
      for (let round = 0; round < 3; round += 1) {
        child.kill('SIGUSR2');
        await sleep(200);
      }
      const value = await metrics();
      const megabytes = (...names) => names.reduce((sum, name) => sum + value(name), 0) / 1024 / 1024;
      return {
        used: megabytes('nodejs_heap_size_used_bytes', 'nodejs_external_memory_bytes'),
        resident: megabytes('process_resident_memory_bytes'),
      };
    },
    async close() {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        await ended;
      }
      await rm(folder, { recursive: true });
    },
  };
}

/** Waits for the process to tell where it listens, and takes its log from it for as long as it runs. */
function announced(child) {
  return new Promise((resolve, reject) => {
    let text = '';
    child.once('exit', (code) => reject(new Error(`The gateway ended with ${code} instead of starting; is it built?`)));
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      if (text === undefined) return;
      text += chunk;
      const [, graphql, management] = /"url":"([^"]+)","management":"([^"]+)"/.exec(text) ?? [];
      if (!graphql || !management) return;
      text = undefined;
      resolve({ graphql, management });
    });
  });
}
