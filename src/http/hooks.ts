import fastifyCompress from '@fastify/compress';
import fastifyCors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';
import type { Semaphore } from '../rest/semaphore.ts';
import type { Observation } from '../telemetry/observe.ts';
import { Turns } from './begin.ts';
import { leaveBodiesUnread } from './body.ts';
import { keepConnections, limitChunks } from './connections.ts';
import { answerErrors } from './errors.ts';
import { GRAPHQL_PATH } from './graphql-route.ts';
import { refuseAmbiguousHeaders, refuseForeignHosts, setHeaders } from './headers.ts';
import { limitOverload, overloaded } from './overload.ts';

interface HookOptions {
  config: Config;
  observation: Observation;
  /** Aborts when the process drains. */
  draining: AbortSignal | undefined;
}

/** Adds all hooks before the route, in their order. Returns the semaphore that limits the operations executed at once. */
export async function addHooks(
  app: FastifyInstance,
  { config, observation, draining }: HookOptions,
): Promise<Semaphore> {
  observation.observe(app, GRAPHQL_PATH);
  const turns = new Turns(app, config.overload.eventLoopDelayMs / 2);
  keepConnections(app, config.connections.max, draining);
  limitChunks(app.server);
  setHeaders(app);
  refuseAmbiguousHeaders(app);
  if (config.auth.kind === 'open') refuseForeignHosts(app);
  // Before the plugins, whose routes would otherwise send errors in another format.
  answerErrors(app);
  await admitWebsites(app, config);
  await app.register(fastifyCompress, {
    threshold: COMPRESS_FROM_BYTES,
    encodings: ['gzip', 'identity'],
    globalDecompression: false,
  });
  leaveBodiesUnread(app);
  // After CORS, so that a website can read the refusal.
  const concurrency = await limitOverload(app, config.overload);
  app.addHook('onRequest', (request, _reply, done) => {
    // Refused before authentication while the waiting queue is full.
    if (turns.isLate(request) || (request.routeOptions.url === GRAPHQL_PATH && concurrency.isFull))
      return done(overloaded());
    done();
  });
  return concurrency;
}

/** Smaller responses fit in one or two packets; larger ones are compressed for clients that accept gzip. */
const COMPRESS_FROM_BYTES = 2_048;

/** CORS. Registered only if websites may call: its hook runs on every request. */
async function admitWebsites(app: FastifyInstance, config: Config): Promise<void> {
  const origin = originsOf(config);
  if (!origin) return;
  const exposedHeaders = ['x-request-id', 'retry-after'];
  // OPTIONS without a preflight's headers is answered like a preflight; the plugin would refuse it in another format.
  await app.register(fastifyCors, { origin, credentials: false, exposedHeaders, maxAge: 600, strictPreflight: false });
}

/** In development also Apollo's hosted Sandbox and every website on this machine. */
function originsOf({ production, corsOrigins }: Config): (string | RegExp)[] | boolean {
  if (corsOrigins.includes('*')) return true;
  if (production) return corsOrigins.length > 0 ? corsOrigins : false;
  return [...corsOrigins, 'https://studio.apollographql.com', /^https?:\/\/(?:localhost|127\.0\.0\.1)(?::\d+)?$/];
}
