import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify';
import { answerClientError, answerError, answerUnknownPaths } from './error-handlers.ts';
import { expiryTime } from './programme/referral.ts';
import { couponRoutes } from './routes/coupon.ts';
import { eventRoutes } from './routes/event.ts';
import { type LandingLimits, landingRoutes } from './routes/landing.ts';
import { playerRoutes } from './routes/player.ts';
import { referralRoutes } from './routes/referral.ts';
import { acceptJson, requireKey, type Service } from './routes/request.ts';
import { deleteExpiredContacts } from './store/contacts.ts';
import { saveGroup } from './store/coupons.ts';

/** The largest body, in bytes. The largest bodies of normal clients are event maps of about ten kilobytes. */
const BODY_LIMIT = 1024 * 1024;

/**
 * The longest path parameter. As long as the request line can be (16 KB), so that a player id that is too long gets the
 * error of `playerIdProblem` and not 404.
 */
const MAX_PARAMETER_LENGTH = 16 * 1024;

/** How long a client may take to send a request. */
const REQUEST_TIMEOUT_MS = 30_000;

/** How often expired contacts are deleted. They do not count from the moment they expire. */
const EXPIRY_INTERVAL_MS = 60 * 60 * 1000;

interface AppOptions {
  /** Its store remains the caller's: closing the app does not close it. */
  service: Service;
  landingLimits: LandingLimits;
  /** Proxies whose `X-Forwarded-For` is trusted, as addresses or networks. Default none. */
  trustProxy?: string[];
  /**
   * Whether the app is about to close. From then on, and while it closes, responses close their connections. A client that
   * keeps one open would keep the app open.
   */
  isDraining?: () => boolean;
  /** Default: no log. */
  log?: FastifyBaseLogger | undefined;
}

/** The public port: the REST interface and the landing page. Reads no environment and does not listen. */
export function createReferenceApp({
  service,
  landingLimits,
  trustProxy = [],
  isDraining = () => false,
  log,
}: AppOptions): FastifyInstance {
  const app = fastify({
    ...serverOptions(log),
    bodyLimit: BODY_LIMIT,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    requestTimeout: REQUEST_TIMEOUT_MS,
    return503OnClosing: false,
    trustProxy: trustProxy.length > 0 ? trustProxy : false,
  });
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
  });
  app.addHook('onSend', async (_request, reply) => {
    if (closing || isDraining()) reply.header('connection', 'close');
  });
  answerUnknownPaths(app);
  app.setErrorHandler(answerError);
  recordRequests(app, service);
  app.addHook('onReady', () => saveGroups(service));
  deleteExpiredRegularly(app, service);
  app.register((scope) => landingRoutes(scope, service, landingLimits));
  app.register(async (scope) => restInterface(scope, service), { prefix: '/api/v3.0' });
  return app;
}

/** What both ports have in common. */
export function serverOptions(log: FastifyBaseLogger | undefined) {
  return {
    ...(log && { loggerInstance: log }),
    logController: new LogController({ disableRequestLogging: true }),
    frameworkErrors: answerError,
    clientErrorHandler: answerClientError,
  };
}

/** The six endpoints of the interface document. */
function restInterface(app: FastifyInstance, service: Service): void {
  app.addHook('onRequest', requireKey(service, 'APIKey'));
  acceptJson(app);
  playerRoutes(app, service);
  couponRoutes(app, service);
  referralRoutes(app, service);
  eventRoutes(app, service);
}

/** One log line and one measurement for each request. The route stands for the path, which contains player ids. */
function recordRequests(app: FastifyInstance, { metrics }: Service): void {
  app.addHook('onResponse', async ({ method, routeOptions, log }, { statusCode: status, elapsedTime }) => {
    const route = routeOptions.url ?? 'unknown';
    metrics.request({ method, route, status }, elapsedTime / 1000);
    log.info({ method, route, status, ms: Math.round(elapsedTime * 100) / 100 }, 'request');
  });
}

function saveGroups({ store, programme }: Service): Promise<void> {
  return store.write(async (queries) => {
    for (const group of programme.groups) await saveGroup(queries, group.handle, JSON.stringify(group));
  });
}

function deleteExpiredRegularly(app: FastifyInstance, { store, programme, now }: Service): void {
  const run = () => store.write((queries) => deleteExpiredContacts(queries, expiryTime(programme, now())));
  const timer = setInterval(() => {
    run().catch((error: unknown) => app.log.error({ err: error }, 'expired contacts were not deleted'));
  }, EXPIRY_INTERVAL_MS).unref();
  app.addHook('onReady', run);
  app.addHook('onClose', async () => clearInterval(timer));
}
