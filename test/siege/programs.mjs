/* Starts the built gateway in production form, its REST service and the shipped nginx, each in a process of its own. */
import { fork, spawn, spawnSync } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const NGINX_CONF = new URL('../../deploy/nginx.conf', import.meta.url);

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
const ISSUER = 'https://login.example';
const AUDIENCE = 'referral-gateway';

const WHAT = 'players:read players:write coupons:read referrals:read contacts:read events:write';
const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A token of a player; with `any-player` for a server. */
export function token(sub, scope = WHAT) {
  const now = Math.floor(Date.now() / 1_000);
  const claims = { iss: ISSUER, aud: AUDIENCE, sub, scope, iat: now, exp: now + 3_600 };
  const input = `${part({ alg: 'HS256', typ: 'JWT' })}.${part(claims)}`;
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
}

const bearer = (sub, scope) => `Bearer ${token(sub, scope)}`;

/** Authorization headers. `server` is for every player; the others belong to one. */
export const tokens = {
  server: bearer('a shop', `${WHAT} any-player`),
  servers: Array.from({ length: 32 }, (_, index) => bearer(`shop-${index}`, `${WHAT} any-player`)),
  other: bearer('another attacker'),
  players: Array.from({ length: 4 }, (_, index) => bearer(`player-${index}`)),
  withoutCoupons: bearer('attacker', 'players:read'),
  oneEvent: bearer('attacker', 'events:write:event-0'),
  longTexts: bearer('long-texts'),
};

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

/** The gateway in production form, with a small heap. `env` is added to the settings; undefined takes one away. */
export async function startGateway(upstream, env = {}) {
  const ports = await Promise.all([freePort(), freePort()]);
  const child = own(
    spawn(process.execPath, [`--max-old-space-size=${HEAP_MB}`, MAIN], {
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
  await ready(child, () => output, `${url}/nope`, `${management}/healthz`);
  return {
    ...{ url, management, port: ports[0] },
    output: () => output,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    rssMb: () => residentMb(child.pid),
    cpuMs: () => cpuMs(child.pid),
    metrics: async () => await (await fetch(`${management}/metrics`)).text(),
    stop: () => end(child),
  };
}

const nginxDirectories = ['/usr/sbin/', '/usr/local/sbin/', '/opt/homebrew/bin/', ''];
const nginx = nginxDirectories.map((at) => `${at}nginx`).find((file) => spawnSync(file, ['-v']).status === 0);
export const hasNginx = nginx !== undefined;

/**
 * The edge of deploy/nginx.conf, with other addresses and paths for what it writes. `resolve` of an upstream needs nginx 1.27.3,
 * so the gateway is named by its address.
 */
export async function startNginx(gatewayPort) {
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), 'siege-nginx-'));
  // The workers have another user.
  chmodSync(directory, 0o755);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${directory}/${name};`,
  );
  const configuration = readFileSync(NGINX_CONF, 'utf8')
    .replace('/tmp/nginx.pid', `${directory}/pid`)
    .replace('http {', `http { ${paths.join(' ')}`)
    .replace(/resolver .*/, '')
    .replace(/server gateway:4000 resolve;/, `server 127.0.0.1:${gatewayPort};`)
    .replace('listen 8080;', `listen 127.0.0.1:${port};`);
  const file = join(directory, 'nginx.conf');
  writeFileSync(file, configuration);
  const child = own(
    spawn(nginx, ['-e', 'stderr', '-g', 'daemon off;', '-c', file], { stdio: ['ignore', 'ignore', 'pipe'] }),
  );
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (output += text));
  const url = `http://127.0.0.1:${port}`;
  await ready(child, () => output, `${url}/nope`);
  return {
    url,
    async stop() {
      // Its workers end with it.
      child.kill('SIGTERM');
      await once(child, 'exit');
      rmSync(directory, { recursive: true });
    },
  };
}

/** Resolves when all of these addresses answer. */
async function ready(child, output, ...urls) {
  const until = performance.now() + 30_000;
  while (!(await answers(...urls))) {
    if (child.exitCode !== null || performance.now() > until) throw new Error(`It did not start:\n${output()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
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
