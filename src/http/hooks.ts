import fastifyCompress from '@fastify/compress';
import fastifyCors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';
import { parseBodies } from './body.ts';
import { answerErrors } from './errors.ts';
import { refuseAmbiguousHeaders, refuseForeignHosts, setHeaders } from './headers.ts';
import { closeWhileDraining } from './server.ts';

interface HookOptions {
  config: Config;
  /** Aborts when the process drains. */
  draining: AbortSignal | undefined;
}

/** Adds all hooks before the route, in their order: request id, headers, CORS. graphql-route.ts has the next ones. */
export async function addHooks(app: FastifyInstance, { config, draining }: HookOptions): Promise<void> {
  closeWhileDraining(app, draining);
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
  parseBodies(app);
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
