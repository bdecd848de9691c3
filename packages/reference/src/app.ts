import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify';
import { ApiError, answerClientError, answerError } from './errors.ts';
import { expiryTime } from './programme/referral.ts';
import { couponRoutes } from './routes/coupon.ts';
import { eventRoutes } from './routes/event.ts';
import { healthRoutes } from './routes/health.ts';
import { landingRoutes } from './routes/landing.ts';
import { operatorRoutes } from './routes/operator.ts';
import { playerRoutes } from './routes/player.ts';
import { referralRoutes } from './routes/referral.ts';
import { acceptJson, requireKey, type Service } from './routes/service.ts';
import { deleteExpiredContacts } from './store/contacts.ts';
import { deleteOldCounts } from './store/form-counts.ts';

/** The largest body, in bytes. The largest bodies of normal clients are event maps of about ten kilobytes. */
const BODY_LIMIT = 1024 * 1024;
/** As long as the request line can be: an id that is too long gets the error of `playerIdProblem`, not 404. */
const MAX_PARAMETER_LENGTH = 16 * 1024;
/** How long a client may take to send a request; checked each second. */
const REQUEST_TIMEOUT_MS = 30_000;
/** How often expired contacts and old counts are deleted. They do not count from the moment they expire. */
const EXPIRY_INTERVAL_MS = 60 * 60 * 1000;

/** An id of another form would be text of a stranger in the log. */
const REQUEST_ID = /^[\w.:-]{1,128}$/;

interface AppOptions {
  /** Its store remains the caller's: closing the app does not close it. */
  service: Service;
  /** Forms of the landing page that one address may send in a minute, see `limitsOf`. Default 0: no limit. */
  landingPerMinute?: number;
  trustProxy?: string[];
  secretKeyOnAll?: boolean;
  /** Changes the REST interface, for a demo. */
  trouble?: ((app: FastifyInstance) => void) | undefined;
  /** Default: no log. */
  log?: FastifyBaseLogger | undefined;
}

/** The public port: the REST interface, the landing page, health. Reads no environment, does not listen. */
export function createReferenceApp({ service, landingPerMinute = 0, ...options }: AppOptions): FastifyInstance {
  const app = newApp(options.log, options.trustProxy);
  deleteExpiredRegularly(app, service);
  healthRoutes(app, service);
  app.register(async (scope) => landingRoutes(scope, service, landingPerMinute));
  app.register(async (scope) => restInterface(scope, service, options), { prefix: '/api/v3.0' });
  return app;
}

export function createOperatorApp({ service, log }: Pick<AppOptions, 'service' | 'log'>): FastifyInstance {
  const app = newApp(log);
  operatorRoutes(app, service);
  return app;
}

function newApp(log: FastifyBaseLogger | undefined, trustProxy: string[] = []): FastifyInstance {
  const app = fastify({
    ...(log && { loggerInstance: log }),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    bodyLimit: BODY_LIMIT,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: { headersTimeout: REQUEST_TIMEOUT_MS, connectionsCheckingInterval: 1_000 },
    genReqId: requestIdOf,
    frameworkErrors: (error, request, reply) => answerError(error, request, reply),
    clientErrorHandler: answerClientError,
    return503OnClosing: false,
    trustProxy: trustProxy.length > 0 ? trustProxy : false,
  });
  // While the app closes, a client that keeps its connection open would keep it open.
  app.addHook('onSend', async (_request, reply) => {
    if (!app.server.listening) reply.header('connection', 'close');
  });
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply));
  app.setNotFoundHandler(() => {
    throw new ApiError(404, 'There is nothing at this path');
  });
  logRequests(app);
  return app;
}

/** The id that the gateway sends and logs too, so that the lines of both logs can be joined; a new one for other clients. */
function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

/** The six endpoints of the interface document. */
function restInterface(app: FastifyInstance, service: Service, { secretKeyOnAll, trouble }: Partial<AppOptions>): void {
  app.addHook('onRequest', requireKey(service, 'APIKey'));
  if (secretKeyOnAll) app.addHook('onRequest', requireKey(service, 'secretKey'));
  acceptJson(app);
  playerRoutes(app, service);
  couponRoutes(app, service);
  referralRoutes(app, service);
  eventRoutes(app, service);
  trouble?.(app);
}

/** One log line for each request. The route stands for the path, which contains player ids. */
function logRequests(app: FastifyInstance): void {
  app.addHook('onResponse', async ({ method, routeOptions, log }, { statusCode: status, elapsedTime }) => {
    const ms = Math.round(elapsedTime * 100) / 100;
    log.info({ method, route: routeOptions.url ?? 'unknown', status, ms }, 'request');
  });
}

function deleteExpiredRegularly(app: FastifyInstance, { store, programme, now }: Service): void {
  const run = () =>
    store.erase(async (queries) => {
      await deleteExpiredContacts(queries, expiryTime(programme, now()));
      await deleteOldCounts(queries, now());
    });
  const timer = setInterval(() => {
    run().catch((error: unknown) => app.log.error({ err: error }, 'expired contacts were not deleted'));
  }, EXPIRY_INTERVAL_MS).unref();
  app.addHook('onReady', run);
  app.addHook('onClose', async () => clearInterval(timer));
}
