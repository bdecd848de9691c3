/* Starts the built gateway in production form and its REST service, each in a process of its own. */
import { fork, spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { FLAGS, MAIN } from '../bench/production.mjs';

/** The memory that the gateway is given for its heap, in megabytes. */
const HEAP_MB = 256;

/** Everything that was started and runs; it ends with this process, however that ends. */
const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

/** Has a child end with this process. */
export function own(child) {
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

const secret = randomBytes(32).toString('hex');
export const ISSUER = 'https://login.example';
export const AUDIENCE = 'referral-gateway';

const WHAT = 'players:read players:write coupons:read referrals:read contacts:read events:write';
const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The claims of a token. */
export function claims(sub, scope = WHAT) {
  const now = Math.floor(Date.now() / 1_000);
  return { iss: ISSUER, aud: AUDIENCE, sub, scope, iat: now, exp: now + 3_600 };
}

/** A token of a player; with `any-player` for a server. */
export function token(sub, scope) {
  const input = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims(sub, scope))}`;
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
}

/** A token for which every player may be asked. */
export const serverToken = (sub = 'a shop') => token(sub, `${WHAT} any-player`);

/** What the gateway verifies tokens with when a row says nothing else. */
const KEY = { JWT_SECRET: secret, JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE };

export async function startUpstream() {
  const child = own(
    fork(fileURLToPath(new URL('upstream.mjs', import.meta.url)), {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    }),
  );
  const [{ port }] = await once(child, 'message');
  return {
    url: `http://127.0.0.1:${port}`,
    become: (changes) => child.send(changes),
    stop: () => end(child),
  };
}

/** The gateway as `npm start` runs it, with a small heap. `env` is added to the settings; undefined takes one away. */
export async function startGateway(upstream, env = {}, flags = []) {
  const ports = await Promise.all([freePort(), freePort()]);
  const child = own(
    spawn(process.execPath, [...FLAGS, `--max-old-space-size=${HEAP_MB}`, ...flags, MAIN], {
      env: {
        PATH: process.env.PATH,
        NODE_ENV: 'production',
        PORT: `${ports[0]}`,
        MANAGEMENT_PORT: `${ports[1]}`,
        REST_BASE_URL: upstream.url,
        REST_API_KEY: 'siege-api-key',
        REST_SECRET_KEY: 'siege-secret-key',
        LOG_LEVEL: 'warn',
        ...(env.JWT_JWKS_URL ? { JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE } : KEY),
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const [url, management] = ports.map((port) => `http://127.0.0.1:${port}`);
  const until = performance.now() + 30_000;
  while (!(await answers(`${url}/nope`, `${management}/healthz`))) {
    if (child.exitCode !== null || performance.now() > until) throw new Error(`The gateway did not start:\n${output}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    url,
    management,
    output: () => output,
    pid: child.pid,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    rssMb: () => residentMb(child.pid),
    cpuMs: () => cpuMs(child.pid),
    async metrics() {
      return await (await fetch(`${management}/metrics`)).text();
    },
    stop: () => end(child),
  };
}

/** Whether all of these addresses answer something. */
async function answers(...urls) {
  try {
    for (const url of urls) await (await fetch(url)).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Resident memory, from outside: a process whose event loop is blocked has it too. NaN where there is no /proc. */
function residentMb(pid) {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
  } catch {
    return Number.NaN;
  }
}

/** CPU time so far, in milliseconds; the kernel counts in ticks of 10 ms. */
function cpuMs(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return Number.NaN;
  }
}
