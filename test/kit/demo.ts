import { seedDemo } from '../../src/reference/demo.ts';
import { Key } from '../../src/reference/keys.ts';
import { loadProgramme } from '../../src/reference/programme/load.ts';
import { startGateway } from './gateway.ts';
import { startReference } from './reference.ts';

/** What `npm start` gives a newcomer: a gateway in front of the reference service with its demo player. */
export async function startDemo() {
  const programme = loadProgramme(undefined);
  const reference = await startReference({ programme });
  const { app, store, apiKey, secretKey } = reference;
  await seedDemo(app, store, programme, { apiKey: new Key(apiKey), secretKey: new Key(secretKey) });
  const gateway = await startGateway(reference.url, { REST_API_KEY: apiKey, REST_SECRET_KEY: secretKey });
  return {
    gateway,
    async close() {
      await gateway.close();
      await reference.close();
    },
  };
}
