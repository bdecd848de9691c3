import { loadConfig } from '../../src/config/config.ts';
import { loadCompiler } from '../../src/graphql/jit.ts';
import { createLog } from '../../src/process/log.ts';
import { connectRedis } from '../../src/process/redis.ts';
import { type ServeOptions, serve } from '../../src/serve.ts';
import { assertNoLeak, assertNoSecret } from './leaks.ts';
import { API_KEY, SECRET_KEY, startUpstream, type Upstream, type UpstreamOptions } from './upstream.ts';

/** What a GraphQL answer holds, as loosely as a test needs it. */
export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  data: any;
  errors: { message: string; path?: (string | number)[]; extensions: Record<string, unknown> }[];
  extensions: Record<string, unknown>;
  /** The body as it came. */
  text: string;
}

export interface TestGateway {
  url: string;
  /** Sends an operation as a client would. */
  query(query: string, variables?: Record<string, unknown>, headers?: Record<string, string>): Promise<Answer>;
  /** Everything the gateway logged, as JSON lines. */
  logged(): string;
  /** The page of metrics. */
  metrics(): Promise<string>;
  close(): Promise<void>;
}

/** An operation is compiled when it has come so often. */
export const COMPILED_AFTER = 3;

const DEFAULTS: ServeOptions = {
  compileAfter: COMPILED_AFTER,
  // The gateway shares its event loop with the test that asks it: how busy it is says nothing of the gateway.
  maxEventLoopDelayMs: 0,
};

interface TestOptions extends ServeOptions {
  /** How long Redis may take to answer: a busy machine is no outage. Default: as shipped. */
  redisWithinMs?: number;
}

/** A gateway on a port of its own in front of `restUrl`; `env` is what a deployment would set. */
export async function startGateway(
  restUrl: string,
  env: Record<string, string> = {},
  { redisWithinMs, ...options }: TestOptions = {},
): Promise<TestGateway> {
  const config = loadConfig({
    PORT: '0',
    REST_BASE_URL: restUrl,
    REST_API_KEY: API_KEY,
    REST_SECRET_KEY: SECRET_KEY,
    ...env,
  });
  const lines: string[] = [];
  const log = createLog('debug', { write: (line) => void lines.push(line) });
  await loadCompiler();
  const account = { baseUrl: restUrl, apiKey: config.rest.apiKey };
  const shared = config.redisUrl && (await connectRedis(config.redisUrl, account, log));
  if (shared && redisWithinMs) shared.redis.options.commandTimeout = redisWithinMs;
  const serving = await serve(config, restUrl, log, { ...DEFAULTS, ...options, shared });
  const { url } = serving;
  return {
    url,
    query: (query, variables, headers) => post(url, { query, variables }, headers),
    logged: () => lines.join(''),
    metrics: () => serving.metrics(),
    async close() {
      await serving.stop(new AbortController().signal);
      shared?.stop();
      assertNoLeak(lines.join('') + (await serving.metrics()));
    },
  };
}

/** A gateway and a scripted upstream behind it. */
export async function startBoth(env?: Record<string, string>, options?: UpstreamOptions, serveOptions?: ServeOptions) {
  const upstream: Upstream = await startUpstream(options);
  const gateway = await startGateway(upstream.url, env, serveOptions);
  return {
    upstream,
    gateway,
    async close() {
      await gateway.close();
      await upstream.close();
    },
  };
}

/** Posts a body to a gateway's GraphQL endpoint and reads the answer. */
export async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  assertNoSecret(`${text}${JSON.stringify([...response.headers])}`);
  const { data, errors = [], extensions = {} } = JSON.parse(text);
  return { status: response.status, headers: response.headers, data, errors, extensions, text };
}
