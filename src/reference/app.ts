import { type FastifyBaseLogger, type FastifyInstance, fastify } from 'fastify';
import type { Keys } from './keys.ts';
import type { Programme } from './programme/schema.ts';
import { answerBrokenRequests, answerErrors, answerUnknownPaths } from './refusals.ts';
import { needsApiKey } from './routes/authenticate.ts';
import { couponRoutes } from './routes/coupon.ts';
import { eventRoutes } from './routes/event.ts';
import { acceptJson } from './routes/json-body.ts';
import { landingRoutes } from './routes/landing.ts';
import { operatorRoutes } from './routes/operator.ts';
import { playerRoutes } from './routes/player.ts';
import { referralRoutes } from './routes/referral.ts';
import type { Service } from './service.ts';
import { saveGroup } from './store/coupons.ts';
import type { Store } from './store/store.ts';

/** The largest body that is read, in bytes. The largest honest ones are event maps of some ten kilobytes. */
const BODY_LIMIT = 1024 * 1024;

/** The longest line and headers that Node takes bound what is left; this only says that a path may be one long id. */
const ANY_LENGTH = 16 * 1024;

/** How long a client may take to send a request, in milliseconds. */
const REQUEST_TIMEOUT_MS = 30_000;

export interface ReferenceOptions {
  /** Stays the caller's: closing the app does not close it. */
  store: Store;
  programme: Programme;
  keys: Keys;
  /** Where players' browsers reach the service, without a slash at the end. */
  publicUrl: () => string;
  /** Default: the system's clock. */
  now?: () => number;
  /** Where faults of the program go; default nowhere. */
  log?: FastifyBaseLogger;
}

/** The referral and rewards service. It reads no environment and does not listen: its caller decides where it runs. */
export function createReferenceApp({ now = Date.now, log, ...parts }: ReferenceOptions): FastifyInstance {
  const service: Service = { ...parts, now };
  const app = fastify({
    ...(log && { loggerInstance: log }),
    bodyLimit: BODY_LIMIT,
    routerOptions: { maxParamLength: ANY_LENGTH },
    frameworkErrors: answerErrors,
    clientErrorHandler: answerBrokenRequests,
    requestTimeout: REQUEST_TIMEOUT_MS,
    return503OnClosing: false,
  });
  endConnectionsOnClose(app);
  answerUnknownPaths(app);
  app.setErrorHandler(answerErrors);
  app.addHook('onReady', () => saveGroups(service));
  app.register(async (door) => landingRoutes(door, service));
  app.register(async (door) => restInterface(door, service), { prefix: '/api/v3.0' });
  app.register(async (door) => operatorRoutes(door, service), { prefix: '/operator' });
  return app;
}

/** The six endpoints of the interface document. */
function restInterface(app: FastifyInstance, service: Service): void {
  app.addHook('onRequest', needsApiKey(service));
  acceptJson(app);
  playerRoutes(app, service);
  couponRoutes(app, service);
  referralRoutes(app, service);
  eventRoutes(app, service);
}

/** While the app closes, answers end their connections: a client that would keep one open would keep the app open. */
function endConnectionsOnClose(app: FastifyInstance): void {
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  app.addHook('onSend', async (_request, reply) => {
    if (isClosing) reply.header('connection', 'close');
  });
}

function saveGroups({ store, programme }: Service): Promise<void> {
  return store.write(async (queries) => {
    for (const group of programme.groups) await saveGroup(queries, group.handle, JSON.stringify(group));
  });
}
