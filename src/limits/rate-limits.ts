import type { Config } from '../config/config.ts';
import { type ClientError, requestError } from '../errors.ts';
import type { OptionalRedis } from '../impatience.ts';
import { createAddressKeys } from './addresses.ts';
import { createWindows } from './window.ts';

type Windows = ReturnType<typeof createWindows>;

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

/** @param shared Absent without Redis: then each process counts for itself. */
export function createRateLimits(rates: Config['rates'], shared: OptionalRedis | undefined) {
  const windows = (name: string, { perSecond, burst }: Rate) =>
    createWindows(name, burst, 1_000 * Math.ceil(burst / perSecond), shared);
  const limits = (prefix: string, operations: Rate, couponReads: Rate, documents: number) => ({
    operations: windows(`${prefix}operations`, operations),
    couponReads: windows(`${prefix}couponReads`, couponReads),
    newDocuments: createWindows('', 5 * documents, 5_000),
  });
  const players = limits('', rates.operations, rates.couponReads, 10);
  const servers = limits('server-', rates.serverOperations, rates.serverCouponReads, 200);
  const limitsOf = ({ scopes }: Consumer) => (scopes.has('any-player') ? servers : players);
  const failures = windows('failures', rates.failedAuthentications);
  const keyOfAddress = createAddressKeys(failures.windowMs);
  /** No single operation is impossible: at most the whole burst is consumed at once. */
  const consume = async (kind: Kind, limit: Windows, key: string, points: number) => {
    if (await limit.consume(key, Math.min(points, limit.most))) return;
    throw refused(kind, limit.left(key).ms);
  };
  return {
    /** Consumes points of a caller's limit. With too few left it consumes none, and rejects with RATE_LIMITED for the client. */
    consume: (kind: CallerKind, caller: Consumer, points = 1) =>
      consume(kind, limitsOf(caller)[kind], caller.key, points),
    /** Consumes the cost of an operation beyond the unit that its request has consumed. */
    async consumeCost(caller: Consumer, cost: number): Promise<void> {
      const limit = limitsOf(caller).operations;
      if (cost > 1) await consume('operations', limit, caller.key, Math.min(cost, limit.most) - 1);
    },
    /** Consumes operations after the fact, also beyond the limit. */
    penalty: (caller: Consumer, operations: number) => limitsOf(caller).operations.change(caller.key, operations),
    /** The limit of failed authentications of an address. */
    failuresOf(address: string) {
      const { key, isShared } = keyOfAddress(address);
      return {
        /** Whether other addresses have the same limit, so that a valid token must not be refused for it. */
        isShared,
        /** Counts a failure. Over the limit, rejects with RATE_LIMITED and HTTP 429. */
        count: () => consume('failures', failures, key, 1),
        /** Takes back a failure that was counted before the token turned out to be valid. */
        forgive: () => failures.change(key, -1),
      };
    },
    /** What a caller's limit of operations is and what is left of it, as in draft-ietf-httpapi-ratelimit-headers-10. */
    headersOf(caller: Consumer) {
      const { left, most, windowMs } = limitsOf(caller).operations;
      const { points, ms } = left(caller.key);
      return {
        'ratelimit-policy': `"operations";q=${most};w=${windowMs / 1_000}`,
        ratelimit: `"operations";r=${points};t=${Math.ceil(ms / 1_000)}`,
      };
    },
  };
}

function refused(kind: Kind, retryAfterMs: number): ClientError {
  return requestError('RATE_LIMITED', 429, `${MESSAGES[kind]} Try again later.`, { retryable: true, retryAfterMs });
}
