import { once } from 'node:events';
import { open, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { newFile } from '../../../test/kit/at-end.ts';
import { placeOf, STORES, sqlitePlace, startReference } from './kit.ts';
import { environmentOf, forkReference, runCommand } from './process.ts';

const printed = async (...command: Parameters<typeof runCommand>) => {
  const { code, stdout, stderr } = await runCommand(...command);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
};

describe.each(STORES)('the command line, on $name', ({ name, place }) => {
  test('gives and uses coupons: by the service that runs, else by the database itself', async () => {
    const at = await place();
    const { REFERENCE_OPERATOR_PORT: _, ...alone } = environmentOf(at);
    const { client, operatorPort, end } = await forkReference(environmentOf(at));
    const asking = { ...alone, REFERENCE_OPERATOR_PORT: operatorPort };
    await client.upsert('alice');
    const { code } = await printed(asking, 'coupons', 'give', 'alice', 'free-shipping');
    expect(await printed(asking, 'coupons', 'use', code)).toEqual({ code, uses: 1, usageLimit: 3, usesLeft: 2 });
    expect((await client.coupons('alice')).body.coupons).toMatchObject([{ code, isUsed: true }]);
    const unknown = { code: 1, stdout: '', stderr: 'The programme has no group "gold"\n' };
    expect(await runCommand(asking, 'coupons', 'give', 'alice', 'gold')).toEqual(unknown);
    const inUse = await runCommand(alone, 'coupons', 'use', code);
    if (name === 'SQLite')
      expect(inUse).toMatchObject({ code: 1, stderr: expect.stringContaining('REFERENCE_OPERATOR_PORT') });
    else expect(JSON.parse(inUse.stdout).uses).toBe(2);

    expect(await end('SIGTERM')).toBe(0);
    const none = {
      code: 1,
      stderr: expect.stringMatching(/^No service answers at http:\/\/127\.0\.0\.1:\d+ \(REFERENCE_OPERATOR_PORT\)/),
    };
    expect(await runCommand(asking, 'coupons', 'use', code)).toMatchObject(none);
    expect(await printed(alone, 'coupons', 'use', code)).toMatchObject({ uses: name === 'SQLite' ? 2 : 3 });
    expect(await runCommand(alone, 'coupons', 'give', 'alice', 'gold')).toEqual(unknown);
  });

  test('restore --check changes nothing, counts what is there, and says why the service could not start', async () => {
    const reference = await startReference({ at: await place() });
    const { client, store, at } = reference;
    await client.upsert('host');
    await client.leave('host', 'eva@shop.example');
    await client.upsert('friend', { email: 'eva@shop.example' });
    const backup = async (): Promise<string[]> =>
      name === 'SQLite' ? [JSON.parse((await client.backup()).text).file] : [];
    const check = async (more: NodeJS.ProcessEnv = {}) => {
      const files = await backup();
      const bytes = () => Promise.all(files.map((file) => readFile(file)));
      const before = await bytes();
      const result = await runCommand({ ...environmentOf(at), ...more }, 'restore', '--check', ...files);
      expect(await bytes()).toEqual(before);
      return result;
    };
    const whole = { players: 2, referrals: 1, coupons: 1, events: 0, due: [] };
    expect(JSON.parse((await check()).stdout)).toMatchObject(whole);
    const wrong = {
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('CONTACT_HASH_KEY is not the key of this database'),
    };
    expect(await check({ CONTACT_HASH_KEY: 'another-key-of-at-least-32-characters' })).toMatchObject(wrong);
    await store.write((queries) =>
      sql`insert into kysely_migration (name, timestamp) values ('9999-future', '2099')`.execute(queries),
    );
    const newer = {
      code: 1,
      stderr: expect.stringContaining('is of another version of the service, a newer one or 0.1.0 (9999-future)'),
    };
    expect(await check()).toMatchObject(newer);
  });
});

test('SQLite: a backup removes those before the newest BACKUP_KEEP, and nothing else', async () => {
  const at = sqlitePlace();
  const { client, operatorPort } = await forkReference({ ...environmentOf(at), BACKUP_KEEP: '2' });
  const files = [];
  files.push(JSON.parse((await client.backup()).text).file);
  const folder = join(at.dataDir, 'backups');
  for (const other of [
    'notes.txt',
    'before-migration-2020-01-01T00-00-00.000Z.db',
    'reference-2020-01-01T00-00-00.000Z.db.part',
  ])
    await writeFile(join(folder, other), '');
  for (let time = 0; time < 2; time++) {
    files.push((await printed({ ...environmentOf(at), REFERENCE_OPERATOR_PORT: operatorPort }, 'backup')).file);
  }
  const kept = (await readdir(folder))
    .filter((name) => name.startsWith('reference-'))
    .map((name) => join(folder, name));
  expect(kept.sort()).toEqual(files.slice(1));
  expect(await readdir(folder)).toHaveLength(4);
});

test('SQLite: a backup that is damaged, or a file that is none, is told by restore --check', async () => {
  const { client, at } = await startReference();
  for (let number = 0; number < 50; number++) await client.upsert(`p${number}`, { city: 'x'.repeat(500) });
  const { file } = JSON.parse((await client.backup()).text);
  const handle = await open(file, 'r+');
  await handle.write(Buffer.alloc(6000, 7), 0, 6000, 4096 * 6 + 10);
  await handle.close();
  const check = (path: string) => runCommand(environmentOf(at), 'restore', '--check', path);
  expect(await check(file)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`The service cannot use ${file}: `),
  });
  await writeFile(file, 'x'.repeat(5000));
  expect(await check(file)).toMatchObject({ code: 1, stderr: expect.stringContaining('file is not a database') });
  expect(await check('/none')).toMatchObject({ code: 1, stderr: 'There is no file /none.\n' });
});

test('a port of the operator that belongs to another program is told in a sentence', async () => {
  const server = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Hi'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = Object(server.address());
  const url = `http://127.0.0.1:${port}`;
  const result = await runCommand({ ...environmentOf(sqlitePlace()), REFERENCE_OPERATOR_PORT: `${port}` }, 'backup');
  server.close();
  const stderr = `Another program listens at ${url} (REFERENCE_OPERATOR_PORT): it responded with the status 200, without JSON.\n`;
  expect(result).toEqual({ code: 1, stdout: '', stderr });
});

test('a command makes no database, and an unknown one gets the list', async () => {
  const at = sqlitePlace();
  const { REFERENCE_OPERATOR_PORT: _, ...env } = environmentOf(placeOf(undefined, at.dataDir));
  const none = { code: 1, stderr: `There is no database ${at.dataDir}/reference.db.\n` };
  expect(await runCommand(env, 'backup')).toMatchObject(none);
  expect(await readdir(at.dataDir)).toEqual([]);
  const { CONTACT_HASH_KEY: __, ...keyless } = env;
  const copy = newFile('reference.db', 'x');
  const noKey = `CONTACT_HASH_KEY is not set, and ${at.dataDir}/new/contact-hash-key cannot be used: ENOENT`;
  for (const words of [['restore', '--check', copy], ['import']]) {
    const { code, stderr } = await runCommand({ ...keyless, DATA_DIR: `${at.dataDir}/new` }, ...words);
    expect([code, stderr]).toEqual([1, expect.stringContaining(noKey)]);
  }
  expect(await readdir(at.dataDir)).toEqual([]);
  for (const words of [['backup', 'now'], ['coupons'], ['--deom'], ['restore', 'x']]) {
    const list = {
      code: 1,
      stderr: expect.stringMatching(/^Unknown command .*\. There are:\n\nnode main\.js /),
    };
    expect(await runCommand(env, ...words)).toMatchObject(list);
  }
  expect((await runCommand(env, '--help')).stdout).toMatch('restore --check');
});
