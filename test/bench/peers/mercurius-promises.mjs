/*
 * Mercurius in production, with a REST client that keeps promises, by the field's own libraries: retries, a timeout for each
 * call, cancelled with its client, a breaker for each endpoint, a bound on responses, which are checked and coerced, and a
 * metric for each call. What a team would build instead of this gateway.
 */
import Ajv from 'ajv';
import CircuitBreaker from 'opossum';
import { Histogram } from 'prom-client';
import { interceptors, Pool } from 'undici';
import { serveInProduction } from './production.mjs';
import { createLoadersOf, keys } from './schema.mjs';

const TIMEOUT_MS = 3_000;
const MAX_CHARACTERS = 2_000_000;
const retry = interceptors.retry({ maxRetries: 2, minTimeout: 50, maxTimeout: 200, methods: ['GET'] });
const pool = new Pool(process.env.REST_BASE_URL, { connections: 32 }).compose(retry);

const nullable = (type) => ({ type: [type, 'null'] });
const [text, number, flag] = ['string', 'number', 'boolean'].map(nullable);
const object = (properties) => ({ ...nullable('object'), properties });
const list = (items) => ({ ...nullable('array'), maxItems: 10_000, items });
const of = (type, names) => Object.fromEntries(names.split(' ').map((name) => [name, type]));
const attributes = object({
  ...of(text, 'displayName firstName lastName mobile gender email dateOfBirth joinDate tags country city zip'),
  ...of(text, 'lastOrderDate'),
  ...of(number, 'totalSpent totalOrders avgOrderAmount'),
});
const coupon = object({
  ...of(text, 'code currency creationDate couponType startAt endAt'),
  ...of(flag, 'isUsed isExpired'),
  value: number,
  product: object({ productId: number, productName: text }),
  collections: list(object({ collectionId: number, collectionName: text })),
  group: object({
    ...of(text, 'handle title url iconPath description startDate expiryDate'),
    ...of(flag, 'isAvailable isValid isActive'),
    maxPerPlayer: number,
  }),
  options: object(of(number, 'ExpiryAfter UsageLimit Capping MinOrderValue')),
});
const friend = object(of(text, 'playerUniqueId displayName email mobileNumber joinDate status'));
const responses = {
  player: object({ ...of(text, 'playerUniqueId referralLink'), playerAttributes: attributes }),
  coupons: object({ coupons: list(coupon) }),
  referrals: object({ ...of(number, 'count total totalPending totalActive'), referredFriends: list(friend) }),
};

const ajv = new Ajv({ coerceTypes: true, strict: false });
const seconds = new Histogram({ name: 'call_seconds', help: 'Time', labelNames: ['call', 'outcome'] });
/** By the name of a loader, how it reads a path. */
const readers = Object.fromEntries(
  Object.entries(responses).map(([name, schema]) => {
    const fits = ajv.compile(schema);
    const read = async (path, gone) => {
      const signal = AbortSignal.any([gone, AbortSignal.timeout(TIMEOUT_MS)]);
      const { statusCode, body } = await pool.request({ method: 'GET', path, headers: keys, signal });
      const json = await body.text();
      if (statusCode !== 200) throw new Error(`The REST service answered ${statusCode}`);
      if (json.length > MAX_CHARACTERS) throw new Error('The response is too long');
      const value = JSON.parse(json);
      if (!fits(value)) throw new Error('The response is unlike the interface');
      return value;
    };
    const breaker = new CircuitBreaker(read, { timeout: false, errorThresholdPercentage: 50, volumeThreshold: 20 });
    const timed = async (path, gone) => {
      const began = performance.now();
      let outcome = 'error';
      try {
        const value = await breaker.fire(path, gone);
        outcome = 'ok';
        return value;
      } finally {
        seconds.observe({ call: name, outcome }, (performance.now() - began) / 1_000);
      }
    };
    return [name, timed];
  }),
);

await serveInProduction(({ raw }) => {
  const gone = new AbortController();
  raw.on('close', () => raw.writableFinished || gone.abort());
  return createLoadersOf((name, path) => readers[name](path, gone.signal));
});
