import { afterEach, test } from '@jest/globals';
import { survivesKills } from './crash.ts';
import { killLeftovers } from './process.ts';
import { POSTGRES } from './stores.ts';

afterEach(killLeftovers);

const KILLS = 20;

// A file for each store, so that the two run beside each other.
for (const { name, place } of POSTGRES) {
  test(`${name} keeps every acknowledged write through ${KILLS} kills`, async () => {
    const at = await place();
    await survivesKills(at, KILLS);
    await at.remove();
  }, 120_000);
}
