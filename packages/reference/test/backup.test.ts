import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { until } from '../../../test/kit/until.ts';
import { clientOf } from './client.ts';
import { startReference } from './kit.ts';
import { environmentOf, forkReference, killLeftovers } from './process.ts';
import { POSTGRES, sqlitePlace } from './stores.ts';

afterEach(killLeftovers);

test('a backup made under load has every write acknowledged before it, and the service starts with it', async () => {
  const at = await sqlitePlace();
  const service = await forkReference(environmentOf(at));
  await service.client.upsert('host');
  let isDone = false;
  const acknowledged: string[] = [];
  const load = Promise.all(
    [1, 2, 3, 4].map(async (writer) => {
      for (let number = 0; !isDone; number++) {
        const id = `${writer}.${number}`;
        await service.client.upsert(id, { custom: { number } });
        acknowledged.push(id);
      }
    }),
  );
  await until(() => acknowledged.length >= 200);
  const before = [...acknowledged];
  const { status, text } = await service.client.backup();
  expect(status).toBe(200);
  isDone = true;
  await load;
  const { file } = JSON.parse(text);
  expect(file).toMatch(new RegExp(`^${at.dataDir}/backups/reference-[\\d-]+T[\\d.-]+Z\\.db$`));
  await service.end('SIGKILL');

  const restored = await mkdtemp(join(tmpdir(), 'restored-'));
  await copyFile(file, join(restored, 'reference.db'));
  const again = await forkReference(environmentOf({ databaseUrl: undefined, dataDir: restored }));
  for (const id of before) expect((await again.client.player(id)).status).toBe(200);
  // What has counted is known in the copy too: the key of the hashes is in the store.
  expect((await again.client.upsert('new', { email: 'new@example.com' })).status).toBe(200);
  expect(await again.end('SIGTERM')).toBe(0);
  expect(await readdir(restored)).toEqual(expect.arrayContaining(['reference.db']));
  await rm(restored, { recursive: true });
  await at.remove();
});

for (const { name, place } of POSTGRES) {
  test(`${name} has a tool of its own`, async () => {
    const at = await place();
    const reference = await startReference({ store: await at.open() });
    expect(await clientOf(reference).backup()).toMatchObject({
      status: 409,
      body: { message: 'PostgreSQL has its own tool: use pg_dump' },
    });
    await reference.close();
    await at.remove();
  });
}
