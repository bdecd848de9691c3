/* Starts what is measured, each in a process of its own, and asks it what it has used. */
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SignJWT } from 'jose';
import { placed } from './cores.mjs';
import { FLAGS, MAIN } from './production.mjs';

const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const REPORTER = new URL('./report-usage.mjs', import.meta.url).href;

/** Signs tokens that the gateway accepts. */
export const signingSecret = randomBytes(32).toString('hex');
const issuer = 'https://login.example';
const audience = 'referral-gateway';
const scope = 'players:read coupons:read referrals:read contacts:read any-player';

/** The token that every request carries; peers do not look at it. */
export const authorization = `Bearer ${await new SignJWT({ scope })
  .setProtectedHeader({ alg: 'HS256' })
  .setIssuer(issuer)
  .setAudience(audience)
  .setSubject('bench')
  .setExpirationTime('1h')
  .sign(Buffer.from(signingSecret))}`;

/**
 * Starts a program and waits until it answers. What it writes is thrown away, but written.
 * @param where As `placed` has it.
 * @param flags What Node is told.
 * @param ready What answers when it is ready, by its ports.
 */
async function start(file, { env, where = 'alone', flags = [], ready = (port) => `http://127.0.0.1:${port}/` }) {
  const [port, managementPort] = await Promise.all([freePort(), freePort()]);
  const began = performance.now();
  const child = fork(file, [], {
    ...placed(where, [...flags, '--import', REPORTER]),
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      PORT: `${port}`,
      MANAGEMENT_PORT: `${managementPort}`,
      ...env,
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  while (!(await answers(ready(port, managementPort)))) {
    if (child.exitCode !== null) throw new Error(`${file} did not start`);
  }
  const readyMs = performance.now() - began;
  async function ask(message) {
    child.send(message);
    return (await once(child, 'message'))[0];
  }
  return {
    name: basename(file),
    url: `http://127.0.0.1:${port}`,
    readyMs,
    usage: () => ask('usage'),
    ask,
    async stop() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

export const startUpstream = (delayMs = 0) =>
  start(here('./upstream.mjs'), {
    env: { DELAY_MS: `${delayMs}` },
    where: 'others',
    ready: (port) => `http://127.0.0.1:${port}/api/v3.0/integrations/player/x`,
  });

/** A peer as its documentation has it, started by `node` alone. */
export const startPeer = (name, upstream) =>
  start(here(`./peers/${name}.mjs`), { env: { REST_BASE_URL: upstream.url } });

/** The gateway in production form: access control on, every limit at its default, started as `npm start` does. */
export const startOurs = (upstream, env = {}, where = 'alone', flags = []) =>
  start(MAIN, {
    env: {
      REST_BASE_URL: upstream.url,
      REST_API_KEY: 'bench-api-key',
      REST_SECRET_KEY: 'bench-secret-key',
      JWT_SECRET: signingSecret,
      JWT_ISSUER: issuer,
      JWT_AUDIENCE: audience,
      ...env,
    },
    where,
    flags: [...FLAGS, ...flags],
    ready: (_port, managementPort) => `http://127.0.0.1:${managementPort}/readyz`,
  });

async function answers(url) {
  try {
    const response = await fetch(url);
    await response.arrayBuffer();
    return response.status < 500;
  } catch {
    await new Promise((resolve) => setTimeout(resolve, 5));
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
