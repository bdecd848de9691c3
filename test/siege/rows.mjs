/*
 * The rows of the siege. An attack runs twice: behind the shipped nginx, where `victim` is the share of its own rate that
 * another caller keeps, and directly, where the gateway must survive. A check says by itself whether it holds.
 */
import * as checks from './checks.mjs';
import { abandonedEvents, hasRedis, slowRedis } from './keyed-events.mjs';
import { retryingClients } from './load.mjs';
import * as neighbours from './neighbours.mjs';
import { hasNginx } from './programs.mjs';

/** The victim's share beside an attacker without a token, or with one and known shapes of operations, or with new ones. */
const NOBODY = 0.8;
const CALLER = 0.7;
const HEAVY = 0.6;

export const ATTACKS = [
  // Without a token.
  { name: 'one-byte chunks', attack: 'tinyChunks', victim: NOBODY },
  { name: 'one-byte chunks to an unknown path', attack: 'tinyChunksToNowhere', victim: NOBODY },
  { name: '1,500 half-sent bodies to an unknown path', attack: 'halfSentToNowhere', victim: NOBODY },
  { name: 'JSON of 20,000 keys without a token', attack: 'manyKeysWithoutToken', victim: NOBODY },
  { name: '1,050 heads with {, then silence', attack: 'silentBodies', victim: NOBODY },
  { name: '1,500 silent connections', attack: 'silent', victim: NOBODY },
  { name: '4,000 new connections a second', attack: 'newConnections', victim: NOBODY },
  { name: '100 bad tokens a second', attack: 'badTokens', victim: NOBODY },
  { name: 'endless bodies after their refusal', attack: 'floodAfterRefusal', victim: NOBODY },
  { name: '1,500 requests in one write', attack: 'pipelined', victim: NOBODY },
  { name: '190 headers, 200 times a second', attack: 'headerFlood', victim: NOBODY },
  // With a token, 50 times a second.
  { name: 'one-byte chunks with a token', attack: 'tinyChunksWithToken', victim: CALLER },
  { name: '1,050 heads with a token and {, then silence', attack: 'silentBodiesWithToken', victim: CALLER },
  { name: 'JSON of 20,000 keys with a token', attack: 'manyKeys', victim: HEAVY },
  { name: '130,000 enum values in a variable', attack: 'hugeEnumList', victim: HEAVY },
  { name: '50 new documents a second, none valid', attack: 'newDocuments', victim: HEAVY },
  { name: '50 new documents a second, all valid', attack: 'newValidDocuments', victim: HEAVY },
  { name: '1,000 new documents', attack: 'manyNewDocuments', victim: HEAVY },
  { name: 'new documents of 16 KB', attack: 'longNewDocuments', victim: HEAVY },
  { name: 'documents of overlapping fields', attack: 'overlappingFields', victim: HEAVY },
  { name: 'fragments 24 deep, each spread twice', attack: 'deepFragments', victim: HEAVY },
  { name: 'a cached operation of 22,000 fields', attack: 'largeOperation', victim: HEAVY },
  { name: 'aliases of 120 characters in long lists', attack: 'longAliases', victim: HEAVY },
  { name: '30 REST calls in one operation', attack: 'manyCalls', victim: HEAVY },
  { name: 'JSON 30,000 levels deep', attack: 'deepNesting', victim: HEAVY },
  { name: 'compressed bodies of 100 MB', attack: 'compressedBodies', victim: CALLER },
  { name: 'large responses that nobody reads', attack: 'unreadResponses', victim: HEAVY },
  { name: 'operations that are abandoned', attack: 'abandoned', victim: HEAVY },
  { name: 'clients that reset', attack: 'resets', victim: CALLER },
  // What an estimate of the cost misses.
  { name: '13,000 line breaks, 100 rejected fields', attack: 'locatedErrors', victim: CALLER },
  { name: '20 aliases of trackEvents with 330 names', attack: 'eventNames', victim: CALLER },
  { name: '160 times 30 aliases of seven long texts', attack: 'longTexts', victim: CALLER },
  { name: 'documents that are compiled', attack: 'compiledDocuments', victim: CALLER, attackMs: 20_000 },
  { name: 'new idempotency keys', attack: 'idempotencyKeys', victim: CALLER },
  { name: 'two callers, 1,000 requests at once', attack: 'bursts', victim: CALLER },
];

export const CHECKS = [
  {
    name: '208 documents, each compiled',
    limit: 'alive, RSS + 150 MB, 70 % of the rate',
    check: checks.compiledDocuments,
  },
  { name: 'resets in the log', limit: 'no line at error, no INTERNAL_SERVER_ERROR', check: checks.resetsInTheLog },
  { name: 'bursts, REST service of 1 s', limit: 'the slots are used up', check: checks.slowUpstreamBurst },
  ...(hasRedis
    ? [{ name: 'Redis pauses, is far away, hangs', limit: '0 refused until it hangs', check: slowRedis }]
    : []),
  { name: 'events whose clients are gone', limit: 'no more calls than slots of a player', check: abandonedEvents },
  { name: 'one endpoint fails or hangs', limit: '0 of 500 others refused', check: neighbours.failingEndpoints },
  { name: 'one player has 1,000 coupons', limit: 'another waits 100 ms at most', check: neighbours.longLists },
  { name: 'one player takes the REST calls', limit: 'another keeps 80 % of its rate', check: neighbours.greedyPlayer },
  { name: '50,800 addresses of one IPv6 network', limit: '20 of 20 new users get in', check: neighbours.newUsers },
  { name: '1,100 idle clients, 1,024 file descriptors', limit: 'alive, serves', check: neighbours.manyIdleClients },
  ...(hasNginx
    ? [{ name: 'rejected bodies of 1 MB', limit: '0 of 50 others refused', check: neighbours.rejectedBodies }]
    : []),
  { name: '1,500 clients at 5 × capacity', limit: 'goodput 70 % of the peak', check: retryingClients },
];
