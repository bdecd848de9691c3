import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from '@jest/globals';
import { atEnd } from '../kit/at-end.ts';
import { spawnProcess } from '../kit/process.ts';
import { start, upstream } from './setup.ts';

/* Servers that speak the protocol of Redis and differ from it in one point. Redis need not be installed. */

/**
 * A server with these replies to the commands of these names, 1 to other scripts, and OK to all else; with `isStrict`, it closes
 * the connection for these, and for a script without a key. Resolves to its URL. `onClose` is called when a client has closed its
 * connection.
 */
const withoutKey = /\r\neval\r\n\$\d+\r\n.*?\r\n\$1\r\n0\r\n/is;
async function startServer(
  replies: Record<string, string | (() => string)>,
  onClose = () => {},
  isStrict = false,
): Promise<string> {
  const server = createServer((client) => {
    client
      .on('error', () => {})
      .on('end', onClose)
      .on('data', (chunk) => {
        const commands = chunk.toString('latin1').matchAll(/\*\d+\r\n\$\d+\r\n(\w+)\r\n/g);
        for (const [, name = ''] of commands) {
          const reply = replies[name.toLowerCase()];
          if (isStrict && (reply === undefined || withoutKey.test(chunk.toString('latin1'))))
            return void client.destroy();
          client.write(typeof reply === 'function' ? reply() : (reply ?? (name === 'eval' ? ':1\r\n' : '+OK\r\n')));
        }
      });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  atEnd(() => server.close());
  return `redis://127.0.0.1:${Object(server.address()).port}`;
}

/** How the program ends with this Redis, and what it prints. */
async function endWith(REDIS_URL: string, command: string[]) {
  const env = { REST_BASE_URL: upstream.url, REDIS_URL };
  const { ended, output } = spawnProcess(env, [], undefined, undefined, command);
  return { code: (await ended).code, text: output() };
}

test('a proxy that does not know HELLO is used, and is no mistake for --probe', async () => {
  const REDIS_URL = await startServer({
    ...{ hello: "-ERR unsupported command 'hello'\r\n", role: '*1\r\n$6\r\nmaster\r\n', get: '$-1\r\n' },
  });
  const gateway = await start({ REDIS_URL });
  await gateway.pageWhen('/metrics', ({ text }) => text.includes('\ngateway_redis_up 1'));
  const { code, text } = await endWith(REDIS_URL, ['--probe']);
  expect([code, text]).toEqual([0, expect.stringContaining('Everything that is configured responds')]);
});

test.each([
  ['lost a reply', ''],
  ['sent one too many', '+OK\r\n+OK\r\n'],
])('a connection that %s is replaced', async (_what, wrong) => {
  let sets = 0;
  let closed = 0;
  const set = () => {
    sets += 1;
    return sets === 2 ? wrong : '+OK\r\n';
  };
  const REDIS_URL = await startServer({ set }, () => {
    closed += 1;
  });
  const gateway = await start({ REDIS_URL });
  await gateway.pageWhen('/metrics', ({ text }) => closed === 1 && text.includes('\ngateway_redis_up 1'));
  await gateway.logged(({ msg }) => msg === 'Redis is reachable again');
});

test('a proxy that closes the connection for commands it does not know is used, and is no mistake for --probe', async () => {
  const REDIS_URL = await startServer({ set: '+OK\r\n', get: '$-1\r\n', eval: ':1\r\n' }, undefined, true);
  const gateway = await start({ REDIS_URL });
  await gateway.pageWhen('/metrics', ({ text }) => text.includes('\ngateway_redis_up 1'));
  expect(gateway.log().filter(({ level }) => level >= 40)).toEqual([]);
  const { code, text } = await endWith(REDIS_URL, ['--probe']);
  expect([code, text]).toEqual([0, expect.stringContaining('Everything that is configured responds')]);
});

test.each(['`', "'", ''])(
  'a Sentinel that names an unknown command as %sset is refused, by the start and by --probe',
  async (mark) => {
    const unknown = (name: string) => [
      name,
      `-ERR unknown command ${mark}${name}${mark}, with args beginning with: \r\n`,
    ];
    const REDIS_URL = await startServer(Object.fromEntries(['set', 'get', 'eval'].map(unknown)));
    for (const command of [[], ['--probe']]) {
      const { code, text } = await endWith(REDIS_URL, command);
      expect(code).toBe(1);
      expect(text).toMatch(/^ *REDIS_URL: this server takes no writes, such as a Sentinel/m);
    }
  },
);

test.each([
  ['NOPERM', 'this user has no permissions to run the select command', 'allow the user all commands'],
  ['ERR', 'SELECT is not allowed in cluster mode', 'name another database at its end, or none'],
])('%s %s: no other database is used', async (code, text, advice) => {
  const closed = new EventEmitter();
  const select = `-${code} ${text}\r\n`;
  const REDIS_URL = `${await startServer({ select }, () => void closed.emit('closed'))}/1`;
  const [gateway] = await Promise.all([start({ REDIS_URL }), once(closed, 'closed')]);
  await gateway.logged(({ msg, reason }) => msg.startsWith('Redis is not reachable') && reason.includes(text));
  const probed = await endWith(REDIS_URL, ['--probe']);
  expect([probed.code, probed.text]).toEqual([1, expect.stringContaining(advice)]);
});

test.each([
  'NOAUTH Authentication required.',
  'BUSY Redis is busy running a script.',
  'ERR max number of clients reached',
])('a database that is refused for a while (%s) is used afterwards, on another connection', async (reply) => {
  const closed = new EventEmitter();
  const replies: Record<string, string> = { select: `-${reply}\r\n`, set: `-${reply}\r\n` };
  const REDIS_URL = `${await startServer(replies, () => void closed.emit('closed'))}/1`;
  const [gateway] = await Promise.all([start({ REDIS_URL }), once(closed, 'closed')]);
  await gateway.logged(({ msg }) => msg.startsWith('Redis is not reachable'));
  for (const name of ['select', 'set']) delete replies[name];
  await gateway.logged(({ msg }) => msg === 'Redis is reachable again');
});

test('a Redis that closes each connection, as in protected mode, is a mistake for --probe', async () => {
  const server = createServer((client) => client.on('error', () => {}).end('-DENIED Redis is in protected mode\r\n'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  atEnd(() => server.close());
  const { code, text } = await endWith(`redis://127.0.0.1:${Object(server.address()).port}`, ['--probe']);
  expect([code, text]).toEqual([
    1,
    expect.stringMatching(/^REDIS_URL: (?:DENIED.*|the connection was closed); .*protected mode/m),
  ]);
});
