import { once } from 'node:events';
import { readdir, readFile, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { until } from '../../../test/kit/until.ts';
import { KEYS } from './client.ts';
import { type Place, sqlitePlace } from './kit.ts';
import { end, environmentOf, forkChild, forkReference, spawnReference } from './process.ts';

let at: Place;
let env: NodeJS.ProcessEnv;
beforeEach(async () => {
  at = sqlitePlace();
  env = environmentOf(at);
});

describe('started by another process', () => {
  test('killed while it fills an empty store, it leaves none half full: the next start fills it, later ones not', async () => {
    const child = forkChild(env, ['--demo']);
    await until(async () => (await stat(join(at.dataDir, 'reference.db')).catch(() => ({ size: 0 }))).size > 0);
    await end(child, 'SIGKILL');
    const first = await forkReference(env, ['--demo']);
    expect((await first.client.referrals('demo-player')).body).toMatchObject({ totalPending: 30, totalActive: 30 });
    await first.client.remove('demo-empty');
    expect(await first.end('SIGTERM')).toBe(0);
    const second = await forkReference(env, ['--demo']);
    expect((await second.client.referrals('demo-player')).body.total).toBe(60);
    expect((await second.client.player('demo-empty')).status).toBe(404);
  });

  test('it lives on after a Ctrl-C, which reaches its parent too, and ends when the parent lets go', async () => {
    const { child, client } = await forkReference(env);
    child.kill('SIGINT');
    expect((await client.upsert('alive')).status).toBe(200);
    const gone = once(child, 'exit');
    child.disconnect();
    expect(await gone).toEqual([0, null]);
  });

  test('a request that is under way when it is told to end is answered and stored', async () => {
    const { child, url } = await forkReference(env);
    const headers = { ...KEYS, 'content-type': 'application/json', expect: '100-continue' };
    const sent = request(`${url}/api/v3.0/integrations/player`, { method: 'POST', headers });
    sent.flushHeaders();
    // The service has the request and waits for its body.
    await once(sent, 'continue');
    const gone = end(child, 'SIGTERM');
    // New connections are refused as soon as it has begun to end.
    const isOpen = () => fetch(`${url}/healthz`).then(Boolean, () => false);
    await until(async () => !(await isOpen()));
    const [response] = await once(sent.end('{"playerUniqueId":"under-way"}'), 'response');
    expect([response.statusCode, response.headers.connection, await gone]).toEqual([200, 'close', 0]);
    const { client } = await forkReference(env);
    expect((await client.player('under-way')).status).toBe(200);
  });

  test('its files are for its user alone, whatever the umask of the caller is', async () => {
    const before = process.umask(0);
    const { client } = await forkReference({ ...env, DATA_DIR: join(at.dataDir, 'new', 'folder') });
    process.umask(before);
    expect((await client.backup()).status).toBe(200);
    const entries = await readdir(at.dataDir, { recursive: true, withFileTypes: true });
    for (const entry of entries) {
      const { mode } = await stat(join(entry.parentPath, entry.name));
      expect([entry.name, (mode & 0o777).toString(8)]).toEqual([entry.name, entry.isDirectory() ? '700' : '600']);
    }
    expect(entries.length).toBeGreaterThan(4);
  });

  test('requests with different numbers of events do not make it grow', async () => {
    const { child, client } = await forkReference(env);
    const send = async (from: number, to: number) => {
      for (let count = from; count < to; count++) {
        const events = Object.fromEntries(Array.from({ length: count * 25 }, (_, number) => [`event ${number}`, {}]));
        expect((await client.track('busy', events)).status).toBe(200);
      }
      // Only Linux tells the memory of a process without a tool.
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
      return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
    };
    const before = await send(1, 50);
    expect((await send(50, 250)) - before).toBeLessThan(100);
  });
});

describe('started alone', () => {
  test('it logs JSON, warns of the development keys, says where it is, and ends cleanly on Ctrl-C', async () => {
    const child = spawnReference({ ...env, REST_API_KEY: '', REST_SECRET_KEY: '' });
    const lines: string[] = [];
    for await (const line of createInterface(child.stdout)) {
      lines.push(line);
      if (line.startsWith('Reference service: ')) break;
    }
    expect(lines.pop()).toMatch(/^Reference service: http:\/\/127\.0\.0\.1:\d+\/api\/v3\.0$/);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      ...Array(2).fill({ name: 'reference-service', msg: expect.stringMatching(/^Server listening/) }),
      { msg: 'listening', url: expect.stringMatching(/^http:/), operatorUrl: expect.stringMatching(/^http:\/\/127\./) },
      { msg: expect.stringContaining('the development keys are accepted') },
    ]);
    expect(await end(child, 'SIGINT')).toBe(0);
  });

  test('in production its output is JSON alone, one line for each request, without ids and keys', async () => {
    const child = spawnReference({ ...env, NODE_ENV: 'production', PUBLIC_URL: 'https://rewards.example' });
    const output = createInterface(child.stdout)[Symbol.asyncIterator]();
    const logged = async (msg: string) => {
      for (;;) {
        const line = JSON.parse((await output.next()).value);
        if (line.msg === msg) return line;
      }
    };
    const { url } = await logged('listening');
    await fetch(`${url}/api/v3.0/integrations/player/secret%40example.com`, {
      headers: { ...KEYS, 'x-request-id': 'joins-both-logs' },
    });
    const line = await logged('request');
    const route = '/api/v3.0/integrations/player/:playerUniqueId';
    const what = { method: 'GET', route, status: 404, ms: expect.any(Number), requestId: 'joins-both-logs' };
    expect(line).toMatchObject(what);
    expect(JSON.stringify(line)).not.toMatch(/secret|an-api-key/);
    expect(await end(child, 'SIGTERM')).toBe(0);
  });

  /** How it ends that refuses to start: its exit code and what it printed. */
  const refusal = async (more: NodeJS.ProcessEnv) => {
    const child = spawnReference({ ...env, ...more });
    const gone = once(child, 'exit');
    const [stdout, stderr] = [await text(child.stdout), await text(child.stderr)];
    return { stdout, stderr, code: (await gone)[0] };
  };

  const DATABASE_URL = 'postgres://u:password@127.0.0.1:1/d';
  test.each<[more: NodeJS.ProcessEnv, message: string]>([
    [{ DATABASE_URL }, 'The database of DATABASE_URL (postgres://127.0.0.1:1/d) cannot be used: connect ECONNREFUSED'],
    [{ DATA_DIR: '/dev/null' }, '/dev/null/reference.db cannot be used: EEXIST: file already exists'],
    [{ PROGRAMME_FILE: '/none' }, 'The programme in /none cannot be read: ENOENT: no such file or directory'],
  ])('with %j it refuses to start, and says why without a stack', async (more, message) => {
    const { code, stdout, stderr } = await refusal(more);
    expect([code, stdout, stderr.startsWith(message)]).toEqual([1, '', true]);
    expect(stderr).not.toMatch(/ {4}at |password/);
  });

  test('it names a port that is taken', async () => {
    const { port } = new URL((await forkReference(env)).url);
    const stderr = `Port ${port} of 127.0.0.1 is taken; set REFERENCE_PORT to another.\n`;
    const more = { REFERENCE_PORT: port, DATA_DIR: join(at.dataDir, 'other') };
    expect(await refusal(more)).toMatchObject({ code: 1, stderr });
  });
});
