import { loadConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/process/log.ts';
import { connectRedis } from '../../src/process/redis.ts';
import { createRedisTimeout } from '../../src/redis-timeout.ts';
import { type ServeOptions, serve } from '../../src/serve.ts';
import { atEnd } from './at-end.ts';
import { assertNoLeak } from './leaks.ts';
import { post } from './post.ts';
import { SETTINGS, startUpstream, type UpstreamOptions } from './upstream.ts';

export type TestGateway = Awaited<ReturnType<typeof startGateway>>;

/** A gateway on a port of its own in front of `restUrl`; `env` is what a deployment would set. */
export async function startGateway(restUrl: string, env: Record<string, string> = {}, options: ServeOptions = {}) {
  const config = loadConfig({ ...SETTINGS, REDIS_TIMEOUT_MS: '1000', REST_BASE_URL: restUrl, ...env });
  const lines: string[] = [];
  const log = createLog('LOG_LEVEL' in env ? config.LOG_LEVEL : 'debug', { write: (line) => void lines.push(line) });
  // The gateway shares its event loop with the test that asks it: how busy it is says nothing of the gateway, or of Redis.
  const redis = config.REDIS_URL && (await connectRedis(config.REDIS_URL, restUrl, config, log));
  const shared = redis && { ...redis, withTimeout: createRedisTimeout(1_000) };
  const defaults: ServeOptions = { compileAfter: 3, maxEventLoopDelayMs: 0 };
  const { url, metrics, status, stop } = await serve(config, restUrl, log, { ...defaults, ...options, shared });
  atEnd(async () => {
    await stop(new AbortController().signal);
    shared?.stop();
    assertNoLeak(lines.join('') + (await metrics()));
  });
  return {
    url,
    query: (query: string, variables?: Record<string, unknown>, headers?: Record<string, string>) =>
      post(url, { query, variables }, headers),
    /** Everything the gateway logged, as JSON lines. */
    logged: () => lines.join(''),
    metrics,
    status,
  };
}

/** A gateway and a scripted upstream behind it. */
export async function startBoth(env?: Record<string, string>, options?: UpstreamOptions, serveOptions?: ServeOptions) {
  const upstream = await startUpstream(options);
  return { upstream, gateway: await startGateway(upstream.url, env, serveOptions) };
}
