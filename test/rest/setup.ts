import { afterEach } from '@jest/globals';
import { loadConfig } from '../../src/config/config.ts';
import { Secret } from '../../src/config/secret.ts';
import type { CallContext, CallRecord } from '../../src/rest/call-context.ts';
import { createRestClient, type RestClient, type RestClientOptions } from '../../src/rest/client.ts';
import { abortAt, DISCONNECTED } from '../../src/rest/send.ts';
import { API_KEY, SECRET_KEY, startUpstream, type Upstream, type UpstreamOptions } from '../kit/upstream.ts';

const cleanUps: (() => Promise<void>)[] = [];
const clearTimers: (() => void)[] = [];
afterEach(async () => {
  for (const clearTimer of clearTimers.splice(0)) clearTimer();
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** What a client reported through its observer. */
export interface Seen {
  calls: CallRecord[];
  attempts: (number | undefined)[];
  retries: string[];
  breaker: string[];
  decodeWarnings: string[];
}

export interface Started {
  upstream: Upstream;
  rest: RestClient;
  seen: Seen;
  /** One more client of the same upstream. */
  another(options?: Partial<RestClientOptions>): RestClient;
}

/** A scripted REST service and a client of it, whose waits have no jitter; both end with the test. */
export async function start(
  options: Partial<RestClientOptions> = {},
  upstreamOptions: UpstreamOptions = {},
): Promise<Started> {
  const upstream = await startUpstream(upstreamOptions);
  cleanUps.push(() => upstream.close());
  const seen: Seen = { calls: [], attempts: [], retries: [], breaker: [], decodeWarnings: [] };
  const another = (more: Partial<RestClientOptions> = {}) => {
    const rest = createRestClient({
      ...loadConfig({}).rest,
      baseUrl: upstream.url,
      apiKey: new Secret(API_KEY),
      secretKey: new Secret(SECRET_KEY),
      random: () => 0,
      ...options,
      ...more,
    });
    cleanUps.push(() => rest.close());
    return rest;
  };
  const observer = {
    call: (record: CallRecord) => seen.calls.push(record),
    attempt: (_method: string, _template: string, status: number | undefined) => seen.attempts.push(status),
    retry: (method: string, template: string) => seen.retries.push(`${method} ${template}`),
    breaker: (state: string) => seen.breaker.push(state),
    notFoundWithoutCode: (endpoint: string) => seen.decodeWarnings.push(`404 ${endpoint}`),
    decodeWarning: (warning: string, member: string) => seen.decodeWarnings.push(`${warning} ${member}`),
  };
  return { upstream, rest: another({ observer }), seen, another };
}

export interface TestOperation extends CallContext {
  /** What its calls reported. */
  records: CallRecord[];
  /** Its client goes away. */
  abort(): void;
}

/** An operation with ten seconds of time and no end of calls. */
export function operation(overrides: Partial<CallContext> & { inMs?: number } = {}): TestOperation {
  const { inMs = 10_000, ...given } = overrides;
  const controller = new AbortController();
  const deadline = performance.now() + inMs;
  clearTimers.push(abortAt(controller, deadline));
  const op: TestOperation = {
    signal: controller.signal,
    deadline,
    requestId: 'request-1',
    records: [],
    onCall: (record) => op.records.push(record),
    abort: () => controller.abort(DISCONNECTED),
    ...given,
  };
  return op;
}

/** Everything about a failure that a client or a rule depends on. */
export async function failure(promise: Promise<unknown>): Promise<Record<string, unknown>> {
  try {
    await promise;
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error;
    const { code, retryable, retryAfterMs, status, outcome } = {
      retryable: undefined,
      outcome: undefined,
      retryAfterMs: undefined,
      status: undefined,
      ...error,
    };
    return { code, retryable, retryAfterMs, status, outcome };
  }
  throw new Error('It was expected to fail.');
}
