import { hash } from 'node:crypto';
import type { Redis } from 'ioredis';
import ipaddr from 'ipaddr.js';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Config } from '../config/config.ts';
import { type ClientError, requestError } from '../errors.ts';
import type { Impatience } from '../impatience.ts';

/** What a client is told over each limit. */
const MESSAGES = {
  failures: 'Too many operations without a valid token came from this address.',
  operations: 'Too many operations in a short time.',
  newDocuments: 'Too many operations that were not seen before; use variables.',
  couponReads: 'Too many reads of coupons in a short time.',
};

type Kind = keyof typeof MESSAGES;
type CallerKind = Exclude<Kind, 'failures'>;
/** `burst` points in each window of ⌈burst / perSecond⌉ seconds. A window begins with the first point. */
type Rate = Config['rates']['operations'];

/** A caller with the scope `any-player` is a server with many users, any other is one user. */
type Consumer = { key: string; scopes: ReadonlySet<string> };

export type RateLimits = ReturnType<typeof createRateLimits>;

/** The counters that replicas share. While Redis does not answer, each process counts for itself. */
export interface SharedCounters {
  redis: Redis;
  impatience: Impatience;
}

export function createRateLimits(rates: Config['rates'], shared: SharedCounters | undefined) {
  const limits = (prefix: string, operations: Rate, couponReads: Rate, documents: number) => ({
    operations: createLimit('operations', prefix, operations, shared),
    couponReads: createLimit('couponReads', prefix, couponReads, shared),
    newDocuments: createLimit('newDocuments', prefix, { perSecond: documents, burst: 5 * documents }, undefined),
  });
  const players = limits('', rates.operations, rates.couponReads, 10);
  const servers = limits('server-', rates.serverOperations, rates.serverCouponReads, 200);
  const limitOf = (kind: CallerKind, { scopes }: Consumer) => (scopes.has('any-player') ? servers : players)[kind];
  const failures = createLimit('failures', '', rates.failedAuthentications, shared);
  const keyOfAddress = createAddressKeys(1_000 * windowOf(rates.failedAuthentications));
  return {
    /** Consumes points of a caller's limit. Over it, rejects with RATE_LIMITED as the client gets it. */
    consume: (kind: CallerKind, caller: Consumer, points = 1) => limitOf(kind, caller).consume(caller.key, points),
    /** Consumes points after the fact, also beyond the limit. Never rejects. */
    penalty: (kind: CallerKind, caller: Consumer, points: number) => limitOf(kind, caller).penalty(caller.key, points),
    /** Counts a failed authentication. Over the limit of the address, rejects with RATE_LIMITED and HTTP 429. */
    countFailure: (address: string) => failures.consume(keyOfAddress(address), 1),
    /** Takes back a failed authentication that was counted before the token turned out to be valid. Never rejects. */
    forgiveFailure: (address: string) => void failures.giveBack(keyOfAddress(address)),
  };
}

const windowOf = ({ perSecond, burst }: Rate) => Math.ceil(burst / perSecond);

/** A limit that consumes at most its burst at once, so that no single operation is impossible. */
function createLimit(kind: Kind, prefix: string, rate: Rate, shared: SharedCounters | undefined) {
  const points = Math.floor(rate.burst);
  const options = { points, duration: windowOf(rate), keyPrefix: `rate:${prefix}${kind}` };
  const memory = new RateLimiterMemory(options);
  // A caller over its limit costs no call to Redis until its window ends, unless its points may be given back.
  const inMemoryBlockOnConsumed = kind === 'failures' ? 0 : points + 1;
  const common = shared && new RateLimiterRedis({ ...options, storeClient: shared.redis, inMemoryBlockOnConsumed });
  const change = async (how: 'consume' | 'penalty' | 'reward', key: string, by: number) => {
    if (!common) return memory[how](key, by);
    // Names of callers can be personal data, and addresses are, so keys in Redis contain a hash.
    const hashed = hash('sha256', key, 'base64url').slice(0, 22);
    return shared
      .impatience(() => common[how](hashed, by))
      .catch((error: unknown) => {
        if (error instanceof RateLimiterRes) throw error;
        return memory[how](hashed, by);
      });
  };
  const ignore = () => undefined;
  return {
    consume: (key: string, consumed: number): Promise<void> =>
      change('consume', key, Math.min(consumed, points)).then(ignore, (result: unknown) => {
        // The limiter rejects with its result when too few points are left; everything else is a failure of ours.
        throw result instanceof RateLimiterRes ? refused(kind, Math.max(1, result.msBeforeNext)) : result;
      }),
    penalty: (key: string, points: number): Promise<void> => change('penalty', key, points).then(ignore, ignore),
    giveBack: (key: string): Promise<void> => change('reward', key, 1).then(ignore, ignore),
  };
}

function refused(kind: Kind, retryAfterMs: number): ClientError {
  return requestError('RATE_LIMITED', 429, `${MESSAGES[kind]} Try again later.`, { retryable: true, retryAfterMs });
}

/** What identifies one client: a whole IPv4 address, or the first 64 bits of an IPv6 address: a customer has a /64. */
export function clientAddress(address = ''): string {
  // A proxy may send anything; no address is longer than 64 characters.
  const text = address.slice(0, 64).replace(/^(?:\[(.+)\]|([\d.]+))(?::\d+)?$/, '$1$2');
  const parsed = ipaddr.isValid(text) ? ipaddr.process(text) : text;
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, 4).join(':') : `${parsed}`;
}

/** Keys for addresses. Of more than 50,000 addresses in one window, the others share one key. */
export function createAddressKeys(windowMs: number): (address: string) => string {
  let seen = new Set<string>();
  let windowEnds = 0;
  return (address) => {
    const client = clientAddress(address);
    if (performance.now() >= windowEnds) [seen, windowEnds] = [new Set(), performance.now() + windowMs];
    if (seen.size < 50_000) seen.add(client);
    return seen.has(client) ? client : 'others';
  };
}
