/* Starts what is measured, each in a process of its own, and asks it what it has used. */
import { execFileSync, fork } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { SignJWT } from 'jose';

/** How the gateway is started in production: `npm start` without the build. */
const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
const FLAGS = / node (.*?)dist\/main\.js$/.exec(scripts.start)[1].split(' ').filter(Boolean);
export const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

const REPORTER = new URL('./report-usage.mjs', import.meta.url).href;
const START_WITHIN_MS = 30_000;

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
/** The settings for its tokens. */
export const tokens = {
  JWT_PUBLIC_KEY: publicKey.export({ type: 'spki', format: 'pem' }),
  JWT_ISSUER: 'https://login.example',
  JWT_AUDIENCE: 'referral-gateway',
};

/** A token with these scopes, which the gateway and its equal peer verify. */
export const signed = (sub, scope) =>
  new SignJWT({ scope })
    .setProtectedHeader({ alg: 'RS256' })
    .setIssuer(tokens.JWT_ISSUER)
    .setAudience(tokens.JWT_AUDIENCE)
    .setSubject(sub)
    .setIssuedAt()
    .setExpirationTime('2h')
    .sign(privateKey);

/** A token to read, and more; by default for every player. */
export const tokenOf = (sub = 'bench', scope = 'any-player') =>
  signed(sub, `players:read coupons:read referrals:read contacts:read ${scope}`);

/** The numbers of the cores; none where `taskset` is missing. */
const cores = (() => {
  try {
    // "pid 1's current affinity list: 0-2,5"
    const list = execFileSync('taskset', ['-cp', `${process.pid}`], { encoding: 'utf8' })
      .trim()
      .split(': ')[1];
    return list.split(',').flatMap((range) => {
      const [first, last = first] = range.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, index) => first + index);
    });
  } catch {
    return [];
  }
})();

/** Whether a measured server has a core for itself. */
export const pinned = cores.length > 1;

/** A command that runs `alone` on the last core, or on the `others`. */
export function placed(where, ...command) {
  if (!pinned || where === 'anywhere') return command;
  return ['taskset', '-c', (where === 'alone' ? cores.slice(-1) : cores.slice(0, -1)).join(), ...command];
}

async function start(file, { env, where = 'alone', flags = [], ready = (port) => `http://127.0.0.1:${port}/` }) {
  const [port, managementPort] = await Promise.all([freePort(), freePort()]);
  const [execPath, ...execArgv] = placed(where, process.execPath, ...flags, '--import', REPORTER);
  const child = fork(file, [], {
    execPath,
    execArgv,
    env: { PATH: process.env.PATH, NODE_ENV: 'production', PORT: port, MANAGEMENT_PORT: managementPort, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  await answersAt(ready(port, managementPort), child);
  async function ask(message) {
    child.send(message);
    return (await once(child, 'message'))[0];
  }
  return {
    name: basename(file, '.mjs'),
    url: `http://127.0.0.1:${port}`,
    /** CPU time in µs, and the memory now and at its highest in bytes. */
    usage: () => ask('usage'),
    ask,
    child,
    management: `http://127.0.0.1:${managementPort}`,
    stop: () => stopped(child, 'SIGKILL'),
  };
}

/** A server of `peers/`. */
export const startPeer = (name, restUrl) =>
  start(fileURLToPath(new URL(`./peers/${name}.mjs`, import.meta.url)), { env: { REST_BASE_URL: restUrl, ...tokens } });

/** The gateway in production form: access control on, every limit at its default, with the flags of `npm start`. */
export const startOurs = (restUrl, where = 'alone', flags = [], env = {}) =>
  start(MAIN, {
    env: {
      REST_BASE_URL: restUrl,
      REST_API_KEY: 'bench-api-key',
      REST_SECRET_KEY: 'bench-secret-key',
      ...tokens,
      ...env,
    },
    where,
    flags: [...FLAGS, ...flags],
    ready: (_port, managementPort) => `http://127.0.0.1:${managementPort}/readyz`,
  });

/** Resolves when something answers there, without a server error. */
export async function answersAt(url, child) {
  const until = performance.now() + START_WITHIN_MS;
  for (;;) {
    const status = await fetch(url).then(
      (response) => response.arrayBuffer().then(() => response.status),
      () => 0,
    );
    if (status > 0 && status < 500) return;
    if (child.exitCode !== null) throw new Error(`${child.spawnargs.join(' ')} ended with ${child.exitCode}`);
    if (performance.now() > until) throw new Error(`Nothing answers at ${url}`);
    await sleep(10);
  }
}

export async function stopped(child, signal) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
