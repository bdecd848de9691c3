/* The rows of attacks that are in no table. */
import { setTimeout as sleep } from 'node:timers/promises';
import { withGateway } from './check.mjs';
import { startAttack } from './duel.mjs';
import { serverToken } from './programs.mjs';

const NOBODY = 0.8;
const CALLER = 0.6;

/** While more silent connections are open than the gateway keeps, new clients ask. */
async function crowdedOut(upstream) {
  return await withGateway(upstream, { MAX_CONNECTIONS: '1000' }, async (gateway) => {
    const attack = await startAttack('silent', gateway);
    await sleep(1_500);
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${serverToken()}`,
      connection: 'close',
    };
    let good = 0;
    for (let index = 0; index < 40; index += 1) {
      try {
        const response = await fetch(`${gateway.url}/graphql`, {
          method: 'POST',
          headers,
          body: '{"query":"{__typename}"}',
        });
        if (response.status === 200) good += 1;
      } catch {
        // The connection was closed.
      }
      await sleep(20);
    }
    await attack.stop();
    return { ok: good >= 32, seen: `${good} of 40 new clients answered` };
  });
}

export const OWN = [
  { name: 'endless bodies after their refusal', attack: 'floodAfterRefusal', answers: NOBODY },
  { name: 'JSON of 20,000 keys with a valid token', attack: 'uniqueKeys', answers: CALLER },
  { name: 'documents of overlapping fields', attack: 'overlappingFields', answers: CALLER },
  { name: 'large responses that nobody reads', attack: 'unreadResponses', answers: CALLER },
  { name: '1,500 requests in one write', attack: 'pipelined', answers: NOBODY },
  { name: 'JSON 30,000 levels deep', attack: 'deepNesting', answers: CALLER },
  { name: 'long texts of which no two are alike', attack: 'forgetting', answers: CALLER },
  { name: 'aliases of 120 characters in long lists', attack: 'longAliases', answers: CALLER },
  { name: '190 headers, 200 times a second', attack: 'headerFlood', answers: NOBODY },
  { name: 'operations that are abandoned', attack: 'abandoned', answers: CALLER },
  { name: 'compressed bodies of 100 MB', attack: 'compressedBodies', answers: CALLER },
  { name: '1,500 silent connections where 1,000 are kept', limit: '80 % of new clients answered', check: crowdedOut },
];
