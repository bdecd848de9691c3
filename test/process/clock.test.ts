import { expect, test } from '@jest/globals';
import { post } from '../kit/post.ts';
import { until } from '../kit/until.ts';
import { start, upstream } from './setup.ts';

/* The built program, whose clock jumps by a day: durations are those of the monotonic clock. */

const DAY_MS = 86_400_000;
/** Moves the program's clock by a day with each SIGUSR2: forth, back, and a day before now. */
const JUMPING = `
  const Real = Date;
  const days = [0, 1, 0, -1];
  let jumps = 0;
  const now = () => Real.now() + days[jumps] * ${DAY_MS};
  globalThis.Date = class extends Real {
    constructor(...given) { super(...(given.length > 0 ? given : [now()])); }
    static now() { return now(); }
  };
  process.on('SIGUSR2', () => { jumps += 1; process.stdout.write('jumped ' + jumps + '\\n'); });
`;
const EVENT = {
  query: 'mutation ($input: TrackEventsInput!) { trackEvents(input: $input) { eventNames } }',
  variables: { input: { playerUniqueId: 'p1', idempotencyKey: 'tuesday', events: [{ name: 'visit' }] } },
};
const READ = { query: '{ player(playerUniqueId: "p1") { attributes { displayName } } }' };

/** A gateway whose clock can jump. */
const startJumping = async (env: Record<string, string>) => {
  const gateway = await start(env, ['--import', `data:text/javascript,${encodeURIComponent(JUMPING)}`]);
  let jumps = 0;
  const jump = async () => {
    jumps += 1;
    gateway.child.kill('SIGUSR2');
    await until(() => gateway.output().includes(`jumped ${jumps}`));
  };
  return { gateway, jump };
};

test('a repeated event is still counted once, a limit lasts as long as before, and reads go on', async () => {
  const limits = { MAX_SERVER_OPERATIONS_PER_SECOND: '5', MAX_SERVER_OPERATIONS_BURST: '10' };
  const { gateway, jump } = await startJumping(limits);
  for (let jumps = 0; jumps < 4; jumps += 1) {
    if (jumps > 0) await jump();
    expect((await post(gateway.url, EVENT)).text).toContain('"eventNames":["visit"]');
    const answers = await Promise.all(Array.from({ length: 12 }, () => post(gateway.url, READ)));
    const waits = answers
      .flatMap(({ text }) => JSON.parse(text).errors ?? [])
      .map(({ extensions }) => extensions.retryAfterMs);
    expect(waits.length).toBeGreaterThan(0);
    // The window is two seconds.
    expect(Math.max(...waits)).toBeLessThanOrEqual(2_000);
    // The caller may go on when it was told to.
    await until(async () => (await post(gateway.url, READ)).status === 200);
  }
  expect(upstream.calls().filter((call) => call === 'POST /integrations/event')).toHaveLength(1);
});

test('a connection to the REST service is replaced at its age, also when the clock was set back meanwhile', async () => {
  const { gateway, jump } = await startJumping({ REST_CONNECTION_MAX_AGE_S: '1', REST_IDLE_TIMEOUT_MS: '60000' });
  await jump();
  await post(gateway.url, READ);
  await jump();
  expect(upstream.connections()).toBe(1);
  await until(async () => (await post(gateway.url, READ)).status === 200 && upstream.connections() === 2);
});
