/*
 * The rows of the siege. A duel has an attack and the share of its answers that the victim keeps at least; a check says by
 * itself whether it is well.
 */
import * as checks from './check.mjs';
import * as load from './load.mjs';

/** For an attacker without a token, and for one with a valid token at 50 requests a second. */
const NOBODY = 0.8;
const CALLER = 0.6;

export const ROWS = [
  // Nobody's token.
  { name: 'one-byte chunks', attack: 'tinyChunks', answers: NOBODY },
  { name: 'one-byte chunks to an unknown path', attack: 'tinyChunksToNowhere', answers: NOBODY },
  { name: '1,500 half-sent bodies to an unknown path', attack: 'halfSentToNowhere', answers: NOBODY },
  { name: 'JSON of 20,000 keys without a token', attack: 'uniqueKeysWithoutToken', answers: NOBODY },
  { name: '1,050 heads with {, then silence', attack: 'silentBodies', answers: NOBODY },
  // A valid token, 50 times a second.
  { name: 'the same with a valid token', attack: 'silentBodiesWithToken', answers: CALLER },
  { name: 'one-byte chunks with a valid token', attack: 'tinyChunksWithToken', answers: CALLER },
  { name: '130,000 enum values in a variable', attack: 'hugeEnumList', answers: CALLER },
  { name: '50 documents a second, none valid', attack: 'newDocuments', answers: CALLER },
  { name: '50 documents a second, all valid', attack: 'newValidDocuments', answers: CALLER },
  { name: 'a known operation of 22,000 fields', attack: 'largeOperation', answers: CALLER },
  { name: '30 REST calls in one operation', attack: 'manyCalls', answers: CALLER },
  { name: '100 bad tokens a second', attack: 'badTokens', answers: NOBODY },
  { name: '100 invented operation names', limit: 'a real name is itself in the metrics', check: checks.inventedNames },
  {
    name: 'bad tokens beside remembered ones',
    limit: '100 of 100 answered',
    check: checks.badTokensBesideGoodOnes,
    timed: true,
  },
  // What stands behind the gateway.
  {
    name: 'a key server that fails',
    limit: '503 retryable, at most 5 fetches, unready',
    check: (up) => checks.keyServerLost(up, 'fails'),
  },
  {
    name: 'a key server that hangs',
    limit: '503 retryable, at most 5 fetches, unready',
    check: (up) => checks.keyServerLost(up, 'hangs'),
  },
  {
    name: 'a key server that is lost later',
    limit: 'new tokens answered, at most 5 fetches',
    check: checks.keyServerLostLater,
  },
  { name: '30 KB of digits in a coupon', limit: '100 ms', check: checks.digitsInCoupon, timed: true },
  {
    name: 'one 429 with Retry-After: 3600',
    limit: 'answered again within 40 s',
    check: checks.longPause,
    beside: true,
    timed: true,
  },
  { name: 'variables named like Object.prototype', limit: '400 always', check: checks.prototypeNames },
  // Issue 18.
  { name: 'clients that reset', limit: 'no line at error, no INTERNAL_SERVER_ERROR', check: checks.resetsInTheLog },
  { name: '300 at once, REST service of 1 s', limit: 'no 503', check: checks.slowUpstreamBurst },
  {
    name: 'new connections at 4 × capacity',
    limit: 'every answer within 5 s',
    check: load.newConnections,
    timed: true,
  },
  {
    name: '1,500 retrying connections at 5 × capacity',
    limit: 'goodput 60 % of the peak',
    check: load.retryingConnections,
    timed: true,
  },
];
