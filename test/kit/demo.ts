import { startGateway } from './gateway.ts';
import { startReference } from './reference.ts';

/** What `npm start` gives a newcomer: a gateway in front of the reference service with its demo player. */
export async function startDemo() {
  const reference = await startReference({ demo: true });
  const { apiKey, secretKey } = reference;
  const gateway = await startGateway(reference.url, { REST_API_KEY: apiKey, REST_SECRET_KEY: secretKey });
  return {
    gateway,
    async close() {
      await gateway.close();
      await reference.close();
    },
  };
}
