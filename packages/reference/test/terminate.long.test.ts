import { afterEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { until } from '../../../test/kit/until.ts';
import { environmentOf, forkReference, killLeftovers } from './process.ts';
import { POSTGRES } from './stores.ts';

afterEach(killLeftovers);

const CLIENTS = 16;
const TERMINATIONS = 3;
/** Acknowledged writes before each termination, and after the last. */
const WRITES = 150;

for (const { name, place } of POSTGRES) {
  test(`${name} ends all connections ${TERMINATIONS} times under load: alive, few errors, no acknowledged write lost`, async () => {
    const at = await place();
    const service = await forkReference(environmentOf(at));
    const acknowledged: string[] = [];
    const statuses: number[] = [];
    let isDone = false;
    const write = async (client: number) => {
      for (let number = 0; !isDone; number++) {
        const id = `player ${client}.${number}`;
        const { status } = await service.client.upsert(id, { email: `${client}.${number}@example.com` });
        statuses.push(status);
        if (status === 200) acknowledged.push(id);
        else expect(status).toBe(503);
        if (statuses.length % 10 === 0) statuses.push((await service.client.player(id)).status === 503 ? 503 : 200);
      }
    };
    const load = Promise.all(Array.from({ length: CLIENTS }, (_, client) => write(client)));

    let terminated = 0;
    for (let round = 1; round <= TERMINATIONS + 1; round++) {
      const goal = acknowledged.length + WRITES;
      await until(() => acknowledged.length >= goal, 60_000);
      if (round <= TERMINATIONS) terminated += await terminateAll(at.databaseUrl ?? '');
    }
    isDone = true;
    await load;
    const errors = statuses.filter((status) => status !== 200).length;
    console.log(
      `${terminated} connections terminated: ${statuses.length} requests, ${errors} errors, ${acknowledged.length} acknowledged writes`,
    );
    expect(terminated).toBeGreaterThanOrEqual(TERMINATIONS);
    expect(errors).toBeLessThanOrEqual(statuses.length * 0.05);
    for (const id of acknowledged) expect((await service.client.player(id)).status).toBe(200);
    expect(await (await fetch(`${service.url}/readyz`)).json()).toEqual({ ready: true });
    expect(await service.end('SIGTERM')).toBe(0);
    await at.remove();
  }, 120_000);
}

/** Ends the connections of the service at this place: it has a database of its own. */
async function terminateAll(databaseUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rowCount } = await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()`,
  );
  await client.end();
  return rowCount ?? 0;
}
