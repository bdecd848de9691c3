import { beforeAll, expect, test } from '@jest/globals';
import type { Client } from './client.ts';
import { onEachStore } from './stores.ts';

onEachStore('numbers in custom', (service) => {
  let client: Client;
  beforeAll(() => {
    client = service().client;
  });
  const upsert = (literal: string) =>
    client.rest('POST', '/player', `{"playerUniqueId":"n","playerAttributes":{"custom":{"orderId":${literal}}}}`);

  test.each(['9007199254740991', '-9007199254740991', '0.1', '1e-7', '123456.789', '9.007199254740991e15'])(
    '%s is kept exactly',
    async (literal) => {
      expect((await upsert(literal)).status).toBe(200);
      expect((await client.player('n')).body.playerAttributes.custom).toEqual({ orderId: Number(literal) });
    },
  );

  test.each(['9007199254740992', '9007199254740993', '-9007199254740992', '12345678901234567890', '1e300'])(
    '%s is refused, naming the member, and nothing is stored',
    async (literal) => {
      await client.upsert('n', { custom: { orderId: 'before' } });
      expect(await upsert(literal)).toMatchObject({
        status: 400,
        body: { code: 5, message: expect.stringMatching(/^playerAttributes\.custom\.orderId must be text if it is/) },
      });
      expect((await client.player('n')).body.playerAttributes.custom).toEqual({ orderId: 'before' });
    },
  );

  test('a number that no double holds is refused, naming the member', async () => {
    expect(await upsert('1e400')).toMatchObject({
      status: 400,
      body: { code: 7, message: 'The member "playerAttributes.custom.orderId" is a number that is too large' },
    });
  });
});
