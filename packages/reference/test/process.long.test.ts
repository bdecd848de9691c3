import { type ChildProcess, execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { environmentOf, forkReference, killedAfterTest, killLeftovers, MAIN } from './process.ts';

const run = promisify(execFile);
const main = fileURLToPath(MAIN);

let dataDir: string;
let env: NodeJS.ProcessEnv;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'reference-'));
  env = environmentOf({ databaseUrl: undefined, dataDir });
});
afterEach(async () => {
  killLeftovers();
  await rm(dataDir, { recursive: true, force: true });
});

/** Runs the program to its end; gives what it printed and its exit code. */
async function outcome(words: string[], more: NodeJS.ProcessEnv = {}) {
  return run(process.execPath, [main, ...words], { env: { ...env, ...more }, timeout: 10_000 }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}

describe('started by another process', () => {
  test('with --demo, an empty store has the demo player before it is ready; a second start finds it', async () => {
    const first = await forkReference(env, ['--demo']);
    const demo = (await first.client.player('demo-player')).body;
    expect(demo.playerAttributes).toMatchObject({ displayName: 'Demo Player', custom: { shoeSize: 42 } });
    expect((await first.client.referrals('demo-player')).body).toMatchObject({
      total: 60,
      totalPending: 30,
      totalActive: 30,
    });
    const { coupons } = (await first.client.coupons('demo-player')).body;
    expect(coupons).toHaveLength(12);
    expect([...new Set(coupons.map(({ couponType }) => couponType))].sort()).toEqual([
      'custom',
      'fixed_discount',
      'fixed_rate_discount',
      'free_product',
      'free_shipping',
      'percentage_discount',
    ]);
    expect(coupons.filter(({ isUsed }) => isUsed)).toHaveLength(1);
    expect(coupons.filter(({ isExpired }) => isExpired)).toHaveLength(2);
    await first.client.upsert('mine');
    expect(await first.end('SIGTERM')).toBe(0);

    const second = await forkReference(env, ['--demo']);
    expect((await second.client.coupons('demo-player')).body).toEqual({ coupons });
    expect((await second.client.player('mine')).status).toBe(200);
    expect(await second.end('SIGTERM')).toBe(0);
  });

  test('it lives on after a Ctrl-C, which reaches its parent too, and ends when the parent lets go', async () => {
    const service = await forkReference(env);
    service.child.kill('SIGINT');
    expect((await service.client.upsert('alive')).status).toBe(200);
    const gone = once(service.child, 'exit');
    service.child.disconnect();
    expect(await gone).toEqual([0, null]);
  });

  test('a request that is under way when it is told to end is answered and stored', async () => {
    const service = await forkReference(env);
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname).setEncoding('utf8');
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    const body = JSON.stringify({ playerUniqueId: 'under way' });
    socket.write(
      `POST /api/v3.0/integrations/player HTTP/1.1\r\nHost: x\r\nAPIKey: key-of-a-test\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
    );
    // "100 Continue" says that the service has the request and waits for its body.
    await once(socket, 'data');
    const gone = once(service.child, 'exit');
    service.child.kill('SIGTERM');
    // New connections are refused as soon as it has begun to end.
    while (await isOpen(service.url));
    socket.write(body);
    await once(socket, 'close');
    expect(answer).toContain('HTTP/1.1 200 OK');
    expect(await gone).toEqual([0, null]);
    const again = await forkReference(env);
    expect((await again.client.player('under way')).status).toBe(200);
    await again.end('SIGTERM');
  });

  test('told to end during its start, it ends with 0, and the next start completes the demo', async () => {
    const child = killedAfterTest(fork(main, ['--demo'], { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] }));
    let errors = '';
    child.stderr?.on('data', (chunk) => {
      errors += chunk;
    });
    const log = join(dataDir, 'reference.db-wal');
    while ((await stat(log).catch(() => ({ size: 0 }))).size < 200_000);
    expect([await endOf(child, 'SIGTERM'), errors]).toEqual([[0, null], '']);
    const again = await forkReference(env, ['--demo']);
    expect((await again.client.referrals('demo-player')).body).toMatchObject({ totalPending: 30, totalActive: 30 });
    await again.end('SIGTERM');
  }, 60_000);

  test('a second one is refused the file, and is told who has it', async () => {
    const service = await forkReference(env);
    const { code, stderr } = await outcome([]);
    expect(code).toBe(1);
    expect(stderr).toContain(`reference.db is in use by process ${service.child.pid}, started `);
    expect(stderr).not.toContain('    at ');
    await service.end('SIGKILL');
    await (await forkReference(env)).end('SIGTERM');
  });
});

describe('started alone', () => {
  test('it logs JSON, says where it is in one line, and ends cleanly on Ctrl-C', async () => {
    const child = killedAfterTest(spawn(process.execPath, [main], { env }));
    const lines: string[] = [];
    for await (const line of createInterface(child.stdout)) {
      lines.push(line);
      if (line.startsWith('Reference service: ')) break;
    }
    expect(lines.pop()).toMatch(
      /^Reference service: http:\/\/127\.0\.0\.1:\d+\/api\/v3\.0, management http:\/\/127\.0\.0\.1:\d+, data in .*reference\.db$/,
    );
    expect(lines.map((line) => JSON.parse(line)).at(-1)).toMatchObject({
      name: 'reference-service',
      msg: 'listening',
      url: expect.stringMatching(/^http:/),
      managementUrl: expect.stringMatching(/^http:/),
    });
    expect(await endOf(child, 'SIGINT')).toEqual([0, null]);
  });

  test('in production its output is JSON alone, one line for each request, without ids and keys', async () => {
    const child = killedAfterTest(spawn(process.execPath, [main], { env: { ...env, NODE_ENV: 'production' } }));
    const output = createInterface(child.stdout)[Symbol.asyncIterator]();
    const logged = async (msg: string) => {
      for (;;) {
        const { value } = await output.next();
        const line = JSON.parse(value);
        if (line.msg === msg) return line;
      }
    };
    const { url } = await logged('listening');
    await fetch(`${url}/api/v3.0/integrations/player/secret%40example.com`, { headers: { APIKey: 'key-of-a-test' } });
    const line = await logged('request');
    expect(line).toMatchObject({ method: 'GET', status: 404, ms: expect.any(Number), reqId: expect.any(String) });
    expect(line.route).toBe('/api/v3.0/integrations/player/:playerUniqueId');
    expect(JSON.stringify(line)).not.toMatch(/secret|key-of-a-test/);
    expect(await endOf(child, 'SIGTERM')).toEqual([0, null]);
  });

  test('it logs that it accepts the development keys', async () => {
    const child = killedAfterTest(
      spawn(process.execPath, [main], { env: { ...env, REST_API_KEY: '', REST_SECRET_KEY: '' } }),
    );
    for await (const line of createInterface(child.stdout)) {
      if (line.includes('the development keys are accepted')) break;
    }
    expect(await endOf(child, 'SIGTERM')).toEqual([0, null]);
  });

  test.each([
    [
      {
        NODE_ENV: 'production',
        REST_API_KEY: '',
        REST_SECRET_KEY: 'development-secret-key',
        REFERENCE_PORT: '99999',
        PUBLIC_URL: 'x',
      },
      [
        'The configuration cannot be used:',
        '  REFERENCE_PORT: must be a port, 0 to 65535',
        '  PUBLIC_URL: must be an http or https address',
        '  REST_API_KEY: must be set in production, as REST_API_KEY or REST_API_KEY_FILE',
        '  REST_SECRET_KEY: must be set in production, as REST_SECRET_KEY or REST_SECRET_KEY_FILE',
      ],
    ],
    [
      {
        REFERENCE_MANAGEMENT_PORT: '-1',
        REFERENCE_TRUST_PROXY: '10.0.0.0/8, balancer',
        REFERENCE_LANDING_PER_LINK: 'many',
        REFERENCE_DATABASE_POOL: '0',
        SHUTDOWN_GRACE_MS: '1s',
        REFERENCE_LOG_LEVEL: 'loud',
      },
      [
        'The configuration cannot be used:',
        '  REFERENCE_MANAGEMENT_PORT: must be a port, 0 to 65535',
        '  REFERENCE_TRUST_PROXY: must be addresses or networks like 10.0.0.0/8, separated by commas',
        '  REFERENCE_LANDING_PER_LINK: must be a number of forms per minute from 0 (no limit) to 1000000',
        '  REFERENCE_DATABASE_POOL: must be a number of connections from 1 to 1000',
        '  SHUTDOWN_GRACE_MS: must be a number of milliseconds from 1 to 600000',
        '  REFERENCE_LOG_LEVEL: must be a level like info or warn',
      ],
    ],
    [
      { REST_API_KEY_FILE: '/none', DATABASE_URL: 'mysql://u:password@h/d' },
      [
        'The configuration cannot be used:',
        '  DATABASE_URL: must be an address like postgres://user:password@host:5432/database',
        '  REST_API_KEY: set it or REST_API_KEY_FILE, not both',
      ],
    ],
    [
      { DATABASE_URL: 'postgres://u:password@127.0.0.1:1/d' },
      ['The database of DATABASE_URL (postgres://127.0.0.1:1/d) cannot be used: connect ECONNREFUSED 127.0.0.1:1'],
    ],
    [
      { REFERENCE_HOST: '0.0.0.0', REST_API_KEY: '' },
      [
        'The configuration cannot be used:',
        '  REFERENCE_HOST: everybody knows the development keys; set REST_API_KEY and REST_SECRET_KEY first',
      ],
    ],
    [
      { DATA_DIR: '/dev/null' },
      ["/dev/null/reference.db cannot be used: EEXIST: file already exists, mkdir '/dev/null'"],
    ],
    [
      { PROGRAMME_FILE: '/none' },
      ["The programme in /none cannot be read: ENOENT: no such file or directory, open '/none'"],
    ],
  ])('with %j it refuses to start and says why', async (more, lines) => {
    expect(await outcome([], more)).toEqual({ code: 1, stdout: '', stderr: `${lines.join('\n')}\n` });
  });

  test('a taken port is named', async () => {
    const service = await forkReference(env);
    const other = await mkdtemp(join(tmpdir(), 'reference-'));
    const { port } = new URL(service.url);
    expect(await outcome([], { REFERENCE_PORT: port, DATA_DIR: other })).toMatchObject({
      code: 1,
      stderr: `Port ${port} of 127.0.0.1 is taken; set REFERENCE_PORT to another.\n`,
    });
    expect(await outcome([], { REFERENCE_MANAGEMENT_PORT: port, DATA_DIR: other })).toMatchObject({
      code: 1,
      stderr: `Port ${port} of 127.0.0.1 is taken; set REFERENCE_MANAGEMENT_PORT to another.\n`,
    });
    await service.end('SIGTERM');
    await rm(other, { recursive: true });
  });

  test('a key in a file is followed when the file changes', async () => {
    const file = join(dataDir, 'key');
    await writeFile(file, 'first-key\n');
    const service = await forkReference({ ...env, REST_API_KEY: '', REST_API_KEY_FILE: file });
    const status = async (key: string) => (await service.client.player('nobody', { APIKey: key })).status;
    expect([await status('first-key'), await status('second-key')]).toEqual([404, 401]);
    await writeFile(file, 'second-key\n');
    while ((await status('second-key')) === 401);
    expect(await status('first-key')).toBe(401);
    await service.end('SIGTERM');
  });
});

describe('the operator’s command', () => {
  test('issues a coupon and counts its use through the running service', async () => {
    const service = await forkReference(env);
    const at = { REFERENCE_MANAGEMENT_PORT: new URL(service.managementUrl).port };
    await service.client.upsert('lucky');
    const { code } = JSON.parse((await outcome(['coupon', 'issue', 'lucky', 'free-shipping'], at)).stdout);
    expect((await service.client.coupons('lucky')).body.coupons).toMatchObject([{ code, isUsed: false }]);
    expect(JSON.parse((await outcome(['coupon', 'use', code], at)).stdout)).toEqual({
      code,
      uses: 1,
      usageLimit: 3,
      usesLeft: 2,
    });
    expect((await service.client.coupons('lucky')).body.coupons).toMatchObject([{ code, isUsed: true }]);
    expect((await outcome(['report', 'lucky'], at)).stdout).toMatch(
      /^Player lucky, created [\s\S]*of free-shipping: issued by the operator; used 1, 2 uses left\nRewards not issued\n {2}none\n$/,
    );
    expect(await outcome(['report', 'nobody'], at)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Refused: There is no player with this playerUniqueId\n',
    });
    expect(JSON.parse((await outcome(['backup'], at)).stdout).file).toContain(join(dataDir, 'backups'));
    expect(await outcome(['coupon', 'use', 'NONE'], at)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Refused: There is no coupon with this code\n',
    });
    await service.end('SIGTERM');
  }, 60_000);

  test.each([
    [['coupon'], 'Usage:\n'],
    [['coupon', 'issue', 'x'], 'Usage:\n'],
    [['coupon', 'use', 'a', 'b'], 'Usage:\n'],
    [['serve'], 'Usage:\n'],
    [['report'], 'Usage:\n'],
    [['backup', 'x'], 'Usage:\n'],
    [['coupon', 'use', 'X'], 'No reference service answers at http://127.0.0.1:1. Start it first'],
  ])('%j is explained', async (words, message) => {
    const { code, stderr } = await outcome(words, { REFERENCE_MANAGEMENT_PORT: '1' });
    expect({ code, message: stderr.slice(0, message.length) }).toEqual({ code: 1, message });
  });
});

async function isOpen(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  return new Promise((resolve) => {
    socket.once('connect', () => socket.destroy()).once('error', () => resolve(false));
    socket.once('close', (failed) => resolve(!failed));
  });
}

async function endOf(child: ChildProcess, signal: NodeJS.Signals): Promise<unknown[]> {
  const gone = once(child, 'exit');
  child.kill(signal);
  return gone;
}
