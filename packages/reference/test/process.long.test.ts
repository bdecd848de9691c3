import { type ChildProcess, execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { until } from '../../../test/kit/until.ts';
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
    await until(async () => !(await isOpen(service.url)));
    socket.write(body);
    await once(socket, 'close');
    expect(answer).toContain('HTTP/1.1 200 OK');
    expect(await gone).toEqual([0, null]);
    const again = await forkReference(env);
    expect((await again.client.player('under way')).status).toBe(200);
    await again.end('SIGTERM');
  });

  test('killed while it fills an empty store, it leaves the store empty: the next start fills it', async () => {
    const child = killedAfterTest(fork(main, ['--demo'], { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] }));
    const gone = once(child, 'exit');
    await until(async () => (await stat(join(dataDir, 'reference.db')).catch(() => ({ size: 0 }))).size > 0);
    child.kill('SIGKILL');
    await gone;
    const again = await forkReference(env, ['--demo']);
    expect((await again.client.referrals('demo-player')).body).toMatchObject({ totalPending: 30, totalActive: 30 });
    await again.end('SIGTERM');
  }, 60_000);

  test('its files are for its user alone, whatever the umask of the caller is', async () => {
    const folder = join(dataDir, 'new', 'folder');
    const before = process.umask(0);
    const service = await forkReference({ ...env, DATA_DIR: folder });
    process.umask(before);
    await service.client.upsert('someone');
    expect((await service.client.backup()).status).toBe(200);
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      const { mode } = await stat(join(entry.parentPath, entry.name));
      expect([entry.name, (mode & 0o777).toString(8)]).toEqual([entry.name, entry.isDirectory() ? '700' : '600']);
    }
    expect(((await stat(folder)).mode & 0o777).toString(8)).toBe('700');
    await service.end('SIGTERM');
  });

  test('requests with different numbers of events do not make it grow', async () => {
    const service = await forkReference(env);
    const send = async (from: number, to: number) => {
      for (let count = from; count < to; count++) {
        const events = Object.fromEntries(Array.from({ length: count * 25 }, (_, number) => [`event ${number}`, {}]));
        expect((await service.client.track('busy', events)).status).toBe(200);
      }
    };
    await send(1, 50);
    const before = await residentMb(service.child);
    await send(50, 250);
    expect((await residentMb(service.child)) - before).toBeLessThan(100);
    await service.end('SIGTERM');
  }, 120_000);

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
    expect(lines.pop()).toMatch(/^Reference service: http:\/\/127\.0\.0\.1:\d+\/api\/v3\.0$/);
    expect(lines.map((line) => JSON.parse(line)).find(({ url }) => url !== undefined)).toMatchObject({
      name: 'reference-service',
      msg: 'listening',
      url: expect.stringMatching(/^http:/),
    });
    expect(await endOf(child, 'SIGINT')).toEqual([0, null]);
  });

  test('in production its output is JSON alone, one line for each request, without ids and keys', async () => {
    const child = killedAfterTest(
      spawn(process.execPath, [main], {
        env: { ...env, NODE_ENV: 'production', PUBLIC_URL: 'https://rewards.example' },
      }),
    );
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

  const CANNOT = 'The configuration cannot be used:';
  test.each<[more: NodeJS.ProcessEnv, ...lines: string[]]>([
    [
      { NODE_ENV: 'production', REST_API_KEY: '', REST_SECRET_KEY: 'development-secret-key' },
      CANNOT,
      '  REST_API_KEY: must be set in production, as REST_API_KEY or REST_API_KEY_FILE',
      '  REST_SECRET_KEY: must be set in production, as REST_SECRET_KEY or REST_SECRET_KEY_FILE',
      '  PUBLIC_URL: must be set in production: referral links begin with it',
    ],
    [
      {
        REFERENCE_PORT: '99999',
        PUBLIC_URL: 'x',
        REFERENCE_TRUST_PROXY: 'balancer',
        REFERENCE_LANDING_PER_MINUTE: 'x',
      },
      CANNOT,
      '  REFERENCE_PORT: must be a port, 0 to 65535',
      '  PUBLIC_URL: must be an http or https address',
      '  REFERENCE_TRUST_PROXY: must be addresses or networks like 10.0.0.0/8, separated by commas',
      '  REFERENCE_LANDING_PER_MINUTE: must be a number from 0 (no limit) to 1000000',
    ],
    [
      { REST_API_KEY_FILE: '/none', DATABASE_URL: 'mysql://u:password@h/d' },
      CANNOT,
      '  REST_API_KEY: set it or REST_API_KEY_FILE, not both',
      '  DATABASE_URL: must be an address like postgres://user:password@host:5432/database',
    ],
    [
      { REFERENCE_HOST: '0.0.0.0', REST_API_KEY: '' },
      CANNOT,
      '  REFERENCE_HOST: everybody knows the development keys; set REST_API_KEY and REST_SECRET_KEY first',
    ],
    [
      { DATABASE_URL: 'postgres://u:password@127.0.0.1:1/d' },
      'The database of DATABASE_URL (postgres://127.0.0.1:1/d) cannot be used: connect ECONNREFUSED 127.0.0.1:1',
    ],
    [
      { DATA_DIR: '/dev/null' },
      "/dev/null/reference.db cannot be used: EEXIST: file already exists, mkdir '/dev/null'",
    ],
    [
      { PROGRAMME_FILE: '/none' },
      "The programme in /none cannot be read: ENOENT: no such file or directory, open '/none'",
    ],
  ])('with %j it refuses to start and says why', async (more, ...lines) => {
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
    await service.end('SIGTERM');
    await rm(other, { recursive: true });
  });

  test('a key can be in a file, which is read at the start', async () => {
    const file = join(dataDir, 'key');
    await writeFile(file, 'first-key\n');
    const service = await forkReference({ ...env, REST_API_KEY: '', REST_API_KEY_FILE: file });
    const status = async (key: string) => (await service.client.player('nobody', { APIKey: key })).status;
    expect([await status('first-key'), await status('second-key')]).toEqual([404, 401]);
    await service.end('SIGTERM');
  });

  test('an unknown argument is refused', async () => {
    expect(await outcome(['report', 'x'])).toMatchObject({
      code: 1,
      stderr: 'Unknown argument report; there is only --demo.\n',
    });
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

/** The memory of a process. Only Linux tells it without a tool. */
async function residentMb({ pid }: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}
