import { loadConfig } from '../../src/config/config.ts';
import { secretOf } from '../../src/config/secret.ts';
import { type CallContext, type CallRecord, Cancellation } from '../../src/rest/call-context.ts';
import { createRestClient, type RestClient, type RestClientOptions } from '../../src/rest/client.ts';
import { UpstreamError } from '../../src/rest/upstream-error.ts';
import { atEnd } from '../kit/at-end.ts';
import { API_KEY, type EndpointName, SECRET_KEY, startUpstream } from '../kit/upstream.ts';

/** A scripted REST service and a client of it, whose waits have no jitter; both end with the test. */
export async function start(options: Partial<RestClientOptions> = {}) {
  const upstream = await startUpstream();
  /** What the client reported through its observer. */
  const names = { breaker: [] as string[], retries: [] as string[], withoutCode: [] as string[] };
  const seen = { calls: [] as CallRecord[], attempts: [] as unknown[], ...names };
  const observer = {
    call: (record: CallRecord) => seen.calls.push(record),
    attempt: (_endpoint: string, status: number | undefined) => seen.attempts.push(status),
    retry: (endpoint: string) => seen.retries.push(endpoint),
    notFoundWithoutCode: (endpoint: string) => seen.withoutCode.push(endpoint),
    breaker: (_endpoint: string, state: string) => seen.breaker.push(state),
  };
  const keys = { apiKey: secretOf(API_KEY), secretKey: secretOf(SECRET_KEY) };
  const defaults = { ...loadConfig({}).rest, baseUrl: upstream.url, ...keys, random: () => 0, observer };
  const rest = createRestClient({ ...defaults, ...options });
  atEnd(() => rest.close());
  return { upstream, rest, seen };
}

/** The same with a clock for breaker and retry budget that only the test moves. */
export async function startWithClock(options: Partial<RestClientOptions> = {}) {
  const clock = { ms: 0 };
  return { ...(await start({ now: () => clock.ms, ...options })), clock };
}

/** Callers: one that is bound to its player, and one with `any-player`. */
export const bound = (key: string) => ({ key, name: key, isServer: false });
export const server = (key: string) => ({ key, name: key, isServer: true });

/** An operation, of a server unless `caller` says otherwise, with ten seconds of time and no end of calls, what its calls reported, and `abort`: its client goes away. */
export function operation({ inMs = 10_000, ...overrides }: Partial<CallContext> & { inMs?: number } = {}) {
  const cancellation = new Cancellation(performance.now() + inMs);
  atEnd(() => cancellation.end());
  const records: CallRecord[] = [];
  return {
    ...{ cancellation, requestId: 'request-1', records, caller: server('tests') },
    onCall: (record: CallRecord) => void records.push(record),
    abort: () => cancellation.cancel('the client disconnected'),
    ...overrides,
  };
}

export const read = (rest: RestClient, id = 'p1', op: CallContext = operation()) => rest.getPlayer(id, undefined, op);
export const track = (rest: RestClient, id = 'p1', op: CallContext = operation()) =>
  rest.trackEvents({ playerUniqueId: id, events: {} }, op);

/** Each call of the client, about one player. */
export const CALLS: Record<EndpointName, (rest: RestClient, id?: string, op?: CallContext) => Promise<unknown>> = {
  'GET /player': read,
  'GET /coupon': (rest, id = 'p1', op = operation()) => rest.listCoupons(id, op),
  'GET /referrals': (rest, id = 'p1', op = operation()) => rest.listReferrals(id, 1, 50, op),
  'POST /player': (rest, id = 'p1', op = operation()) => rest.upsertPlayer({ playerUniqueId: id }, op),
  'POST /event': track,
  'DELETE /player': (rest, id = 'p1', op = operation()) => rest.deletePlayer(id, op),
};

/** Everything about a failure that a client or a rule depends on. */
export async function failure(promise: Promise<unknown>): Promise<Record<string, unknown>> {
  try {
    await promise;
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const { code, retryable, retryAfterMs, status, outcome } = error;
    return { code, retryable, retryAfterMs, status, outcome };
  }
  throw new Error('It was expected to fail.');
}
