import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { atEnd } from '../kit/at-end.ts';
import { post } from '../kit/post.ts';
import { startProcess } from '../kit/process.ts';
import { until } from '../kit/until.ts';
import { ask, upstream } from './setup.ts';

/* The built program with few file descriptors, and more clients than it has. */

const IDLE = 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';

test.each([
  [200, 250],
  [600, 700],
])(
  'with %i file descriptors, %i idle clients cost neither the process nor those that are connected',
  async (files, clients) => {
    const env = { REST_BASE_URL: upstream.url };
    const gateway = await startProcess(env, [], undefined, `ulimit -n ${files}`);
    const { hostname, port } = new URL(gateway.url);
    const open = (): Socket => connect(Number(port), hostname).on('error', () => undefined);
    const stays = open();
    await once(stays, 'connect');
    const idle = Array.from({ length: clients }, open);
    atEnd(() => [stays, ...idle].forEach((socket) => void socket.destroy()));
    for (const socket of idle) socket.resume().write(IDLE);
    // Some are refused: closed at once.
    await gateway.logged(({ maxConnections }) => maxConnections < files);
    await until(() => idle.some(({ destroyed }) => destroyed));

    const body = JSON.stringify({ query: '{ player(playerUniqueId: "p1") { id } }' });
    stays.write(
      `POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const [response] = await once(stays, 'data');
    expect(String(response)).toMatch(/^HTTP\/1\.1 200/);
    expect((await gateway.page('/healthz')).status).toBe(200);
    expect((await gateway.page('/metrics')).status).toBe(200);

    for (const socket of idle) socket.destroy();
    await until(async () => (await ask(gateway).catch(() => undefined))?.status === 200);
    expect(await post(gateway.url, { query: '{ player(playerUniqueId: "p2") { coupons { code } } }' })).toMatchObject({
      status: 200,
      errors: [],
    });
    expect(gateway.log().filter(({ level }) => level >= 50)).toEqual([]);
    expect(gateway.child.exitCode).toBeNull();
  },
);

/** How many connections may wait to be accepted, by the limit of the system; undefined elsewhere than on Linux. */
function maxBacklog(): number | undefined {
  try {
    return Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));
  } catch {
    return undefined;
  }
}

(Number(maxBacklog()) >= 4_096 ? test : test.skip)(
  'a process that is held up keeps 1,000 new connections, and then responds on all of them',
  async () => {
    const gateway = await startProcess({ REST_BASE_URL: upstream.url });
    const { hostname, port } = new URL(gateway.url);
    gateway.child.kill('SIGSTOP');
    const burst = Array.from({ length: 1_000 }, () => connect(Number(port), hostname));
    atEnd(() => burst.forEach((socket) => void socket.destroy()));
    await Promise.all(burst.map((socket) => once(socket, 'connect')));
    const answers = burst.map((socket) => once(socket.setEncoding('utf8'), 'data'));
    for (const socket of burst) socket.write(IDLE);
    gateway.child.kill('SIGCONT');
    const statuses = (await Promise.all(answers)).map(([text]) => String(text).slice(0, 12));
    expect(new Set(statuses)).toEqual(new Set(['HTTP/1.1 200']));
  },
);
