/* Starts the built gateway in production form, its REST service and the shipped nginx, each in a process of its own. */
import { fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { answersAt, freePort, tokens as KEY, MAIN, signed, stopped } from '../bench/processes.mjs';

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

const WHAT = 'players:read players:write coupons:read referrals:read contacts:read events:write';
/** The header of a player; with `any-player` of a server. */
export const bearer = async (sub, scope = WHAT) => `Bearer ${await signed(sub, scope)}`;
const bearers = (length, nameOf, scope) => Promise.all(Array.from({ length }, (_, n) => bearer(nameOf(n), scope)));

/** Authorization headers. `server` is for every player; the others belong to one. */
export const tokens = {
  server: await bearer('a shop', `${WHAT} any-player`),
  servers: await bearers(32, (n) => `shop-${n}`, `${WHAT} any-player`),
  other: await bearer('another attacker'),
  players: await bearers(4, (n) => `player-${n}`),
  withoutCoupons: await bearer('attacker', 'players:read'),
  oneEvent: await bearer('attacker', 'events:write:event-0'),
  longTexts: await bearer('long-texts'),
};

export async function startUpstream() {
  const file = fileURLToPath(new URL('upstream.mjs', import.meta.url));
  const child = own(fork(file, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }));
  const [{ url }] = await once(child, 'message');
  return { url, become: (changes) => child.send(changes), stop: () => stopped(child, 'SIGKILL') };
}

/** The gateway in production form, with a small heap. `env` is added to the settings; OPEN_FILES limits file descriptors. */
export async function startGateway(upstream, { OPEN_FILES, ...env } = {}) {
  const limited = OPEN_FILES ? ['sh', '-c', `ulimit -n ${OPEN_FILES} && exec "$0" "$@"`] : [];
  const [command, ...args] = [...limited, process.execPath, `--max-old-space-size=${HEAP_MB}`, MAIN];
  const ports = await Promise.all([freePort(), freePort()]);
  const child = own(
    spawn(command, args, {
      env: {
        PATH: process.env.PATH,
        NODE_ENV: 'production',
        PORT: `${ports[0]}`,
        MANAGEMENT_PORT: `${ports[1]}`,
        REST_BASE_URL: upstream.url,
        REST_API_KEY: 'siege-api-key',
        REST_SECRET_KEY: 'siege-secret-key',
        LOG_LEVEL: 'warn',
        ...KEY,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  const [url, management] = ports.map((port) => `http://127.0.0.1:${port}`);
  await answersAt(`${management}/readyz`, child);
  return {
    ...{ url, management, port: ports[0] },
    output: () => output,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    rssMb: () => residentMb(child.pid),
    cpuMs: () => cpuMs(child.pid),
    metrics: async () => await (await fetch(`${management}/metrics`)).text(),
    stop: () => stopped(child, 'SIGKILL'),
  };
}

const nginxDirectories = ['/usr/sbin/', '/usr/local/sbin/', '/opt/homebrew/bin/', ''];
const nginx = nginxDirectories.map((at) => `${at}nginx`).find((file) => spawnSync(file, ['-v']).status === 0);
export const hasNginx = nginx !== undefined;

/**
 * The edge of deploy/nginx.conf, with other addresses and paths for what it writes. `resolve` of an upstream needs nginx 1.27.3,
 * so the gateway is named by its address.
 */
export const startNginx = (gatewayPort) =>
  runNginx((port, directory, paths) =>
    readFileSync(NGINX_CONF, 'utf8')
      .replace('/tmp/nginx.pid', `${directory}/pid`)
      .replace('http {', `http { ${paths}`)
      .replace(/resolver .*/, '')
      .replace(/server gateway:4000 .*resolve;/, `server 127.0.0.1:${gatewayPort};`)
      .replace('listen 8080 ', `listen 127.0.0.1:${port} `),
  );

/** An nginx with its defaults in front of replicas: it sends nothing to one that failed, for 10 s. */
export const startDefaultNginx = (gatewayPorts) =>
  runNginx(
    (port, directory, paths) => `
      pid ${directory}/pid; events {}
      http {
        ${paths} access_log off;
        upstream gateways { ${gatewayPorts.map((gateway) => `server 127.0.0.1:${gateway};`).join(' ')} }
        server { listen 127.0.0.1:${port}; location / { proxy_pass http://gateways; } }
      }`,
  );

async function runNginx(configurationOf) {
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), 'siege-nginx-'));
  // The workers have another user.
  chmodSync(directory, 0o755);
  const written = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const paths = written.map((name) => `${name}_temp_path ${directory}/${name};`).join(' ');
  const file = join(directory, 'nginx.conf');
  writeFileSync(file, configurationOf(port, directory, paths));
  const child = own(
    spawn(nginx, ['-e', 'stderr', '-g', 'daemon off;', '-c', file], { stdio: ['ignore', 'ignore', 'ignore'] }),
  );
  const url = `http://127.0.0.1:${port}`;
  await answersAt(`${url}/nope`, child);
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

/** A file of a process in /proc: a process whose event loop is blocked has it too. Empty where there is none. */
function ofProcess(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

/** Resident memory. NaN where there is no /proc. */
const residentMb = (pid) => Number(/VmRSS:\s+(\d+)/.exec(ofProcess(pid, 'status'))?.[1]) / 1_024;

/** CPU time so far, in milliseconds; the kernel counts in ticks of 10 ms. NaN where there is no /proc. */
function cpuMs(pid) {
  const fields = ofProcess(pid, 'stat').split(') ')[1]?.split(' ');
  return (Number(fields?.[11]) + Number(fields?.[12])) * 10;
}
