import { unwrapResolverError } from '@apollo/server/errors';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../access/caller.ts';
import type { GatewayErrorCode } from '../errors.ts';
import type { ReportError } from '../graphql/response.ts';
import { newTraceParent, readTraceParent, writeTraceParent } from '../rest/call-context.ts';
import { UpstreamError } from '../rest/errors.ts';
import type { Metrics } from './metrics.ts';
import type { OperationRecord } from './operation-record.ts';
import type { Tracing } from './tracing.ts';

interface ObservationOptions {
  metrics: Metrics;
  log: FastifyBaseLogger;
  tracing: Tracing | undefined;
  /** The name for the log of a player. */
  nameOf(id: string): string;
  /** Operations that take longer are logged with their REST calls, in milliseconds. */
  slowOperationMs: number;
}

/** Records operations. */
export function createObservation({ metrics, log, tracing, nameOf, slowOperationMs }: ObservationOptions) {
  function finish(finished: SentResponse): void {
    const { record, reply, ended } = finished;
    if (reply.statusCode >= 400 && record.codes.length === 0) record.codes = [codeOf(reply.statusCode)];
    // Neither an operation nor a failure: the landing page.
    if (record.type === undefined && record.codes.length === 0) return;
    const ms = ended - record.started;
    metrics.operation(record, ms);
    logOperation(log, finished, ms, ms > slowOperationMs);
    logDeletions(log, record, reply.request.id, nameOf);
    record.trace?.end(record);
  }

  return {
    /**
     * Records every request to `path`. When its response is sent, the record is written as one log line, counted in the
     * metrics, and ends the trace.
     */
    observe(app: FastifyInstance, path: string): void {
      app.decorateRequest('record', null);
      app.addHook('onRequest', (request, _reply, done) => {
        if (request.routeOptions.url === path) request.record = createOperationRecord();
        done();
      });
      app.addHook('onSend', (request, reply, payload, done) => {
        // After the response is handed to the socket.
        const { record } = request;
        if (record) process.nextTick(finish, { record, reply, payload, ended: performance.now() });
        done(null, payload);
      });
    },

    /** Begins to record an operation. */
    begin(request: FastifyRequest, caller: Caller): OperationRecord {
      const parent = readTraceParent(request.headers);
      const record = request.record ?? createOperationRecord();
      record.caller = caller;
      record.client = clientNameOf(request);
      record.trace = tracing?.begin(parent);
      const passedOn = record.trace ? undefined : (parent ?? newTraceParent());
      record.traceId = record.trace?.traceId ?? passedOn?.traceId;
      record.traceHeaders = passedOn && writeTraceParent(passedOn);
      return record;
    },
  };
}

export type Observation = ReturnType<typeof createObservation>;

/** A response that is handed to Fastify to be sent. */
interface SentResponse {
  record: OperationRecord;
  reply: FastifyReply;
  payload: unknown;
  /** On the clock of `performance.now()`. */
  ended: number;
}

/** The bytes of a response before compression. Usually this is its `content-length`. */
function lengthOf(payload: unknown, reply: FastifyReply): number {
  const counted = reply.hasHeader('content-encoding') ? undefined : reply.getHeader('content-length');
  return Number(counted ?? (typeof payload === 'string' ? Buffer.byteLength(payload) : 0));
}

/** The error code under which a failure of Apollo Server's HTTP layer is counted. */
function codeOf(status: number): GatewayErrorCode {
  return status < 500 ? 'BAD_REQUEST' : 'INTERNAL_SERVER_ERROR';
}

export function createOperationRecord(): OperationRecord {
  return {
    started: performance.now(),
    name: undefined,
    type: undefined,
    hash: undefined,
    traceId: undefined,
    client: undefined,
    caller: undefined,
    rejection: undefined,
    calls: [],
    codes: [],
    userErrors: [],
    deletions: [],
    trace: undefined,
    traceHeaders: undefined,
  };
}

/** The form of a client's name and version. Other values are not recorded. */
const CLIENT = /^[\w .,:@/+-]{1,64}$/;

/** Name and version of the client, from the headers that Apollo's clients send. */
function clientNameOf({ headers }: FastifyRequest): string | undefined {
  const parts = [headers['apollographql-client-name'], headers['apollographql-client-version']];
  const known = parts.filter((part): part is string => typeof part === 'string' && CLIENT.test(part));
  return known.length > 0 ? known.join('@') : undefined;
}

/** Longer names of operations are cut, in characters. */
const MAX_NAME_LENGTH = 100;

/**
 * Logs one line for each operation. A refusal for overload is logged at debug only.
 * @param slow Whether the operation took so long that its REST calls are logged too.
 */
function logOperation(
  log: FastifyBaseLogger,
  { record, reply, payload }: SentResponse,
  ms: number,
  slow: boolean,
): void {
  const { name, type, caller, rejection, calls, codes, userErrors, hash, traceId, client } = record;
  const line = {
    requestId: reply.request.id,
    traceId,
    operation: name?.slice(0, MAX_NAME_LENGTH),
    type,
    hash: hash?.slice(0, 16),
    caller: caller?.name,
    ...rejection,
    client,
    ms: rounded(ms),
    upstreamCalls: calls.length,
    ...(slow ? { calls: calls.slice(0, MAX_CALLS).map(describeCall) } : {}),
    bytes: lengthOf(payload, reply),
    status: reply.statusCode,
    outcome: codes[0] ?? 'OK',
    ...(codes.length > 1 ? { codes } : {}),
    ...(userErrors.length > 0 ? { userErrors } : {}),
  };
  if (codes[0] === 'OVERLOADED') log.debug(line, 'operation');
  else log.info(line, 'operation');
}

/** The audit: one line for each `deletePlayer`, with who asked for it and whom it was about. */
function logDeletions(
  log: FastifyBaseLogger,
  { deletions, caller }: OperationRecord,
  requestId: string,
  nameOf: ObservationOptions['nameOf'],
): void {
  for (const { playerUniqueId, outcome } of deletions) {
    const audit = 'deletePlayer';
    log.info({
      audit,
      requestId,
      caller: caller?.name,
      player: nameOf(playerUniqueId),
      outcome,
    });
  }
}

/** How many REST calls of a slow operation are logged. */
const MAX_CALLS = 100;

function describeCall({ method, template, status, ms, queueMs, error }: OperationRecord['calls'][number]) {
  return { call: `${method} ${template}`, status, ms: rounded(ms), queueMs: rounded(queueMs), error };
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/**
 * Logs errors that a client must not see, with the request id that the client gets. Failures of the REST service are logged
 * without a stack, with the status and the code of its response. The rest of the response can contain personal data.
 */
export function reportTo(log: FastifyBaseLogger): ReportError {
  return (error, requestId) => {
    const cause = unwrapResolverError(error);
    if (!(cause instanceof UpstreamError)) {
      log.error({ err: cause, requestId }, 'field failed');
      return;
    }
    const { code, status, serviceCode, message, notSent } = cause;
    // Clients often disconnect, and while the breaker is open, every call fails: the operations' own lines show it.
    const level = code === 'CANCELLED' || notSent ? 'debug' : 'warn';
    log[level](
      { requestId, code, upstreamStatus: status, upstreamCode: serviceCode, reason: message },
      'upstream call failed',
    );
  };
}
