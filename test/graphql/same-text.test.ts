import { expect, test } from '@jest/globals';
import { startBoth } from '../kit/gateway.ts';

test('a text that is too long to be kept can be sent several times at once', async () => {
  const { gateway, close } = await startBoth();
  const text = `{ player(playerUniqueId: "p1") { id } } #${'x'.repeat(20_000)}`;
  const answers = await Promise.all(Array.from({ length: 8 }, () => gateway.query(text)));
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
  await close();
});
