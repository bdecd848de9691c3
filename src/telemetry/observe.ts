import type { IncomingHttpHeaders } from 'node:http';
import { unwrapResolverError } from '@apollo/server/errors';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply } from 'fastify';
import { UpstreamError } from '../rest/errors.ts';
import type { Metrics } from './metrics.ts';
import type { OperationRecord } from './operation-record.ts';
import { passTraceOn } from './trace-context.ts';
import type { Tracing } from './tracing.ts';

export interface ObservationOptions {
  metrics: Pick<Metrics, 'operation'>;
  log: FastifyBaseLogger;
  tracing: Tracing | undefined;
  /** The name for the log of a player. */
  nameOf(id: string): string;
  /** Operations that take longer are logged with their REST calls, in milliseconds. */
  slowOperationMs: number;
}

/**
 * Records every request to `path`. When its response is sent, the record is written as one log line, counted in the
 * metrics, and ends the trace.
 */
export function observeOperations(app: FastifyInstance, path: string, options: ObservationOptions): void {
  const beginTrace = options.tracing?.begin ?? passTraceOn;
  app.decorateRequest('record', null);
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.routeOptions.url === path) request.record = createOperationRecord(request.headers, beginTrace);
    done();
  });
  app.addHook('onSend', ({ record }, reply, payload, done) => {
    // After the response is handed to the socket.
    if (record) process.nextTick(finish, options, record, reply, payload, performance.now());
    done(null, payload);
  });
}

export function createOperationRecord(headers: IncomingHttpHeaders = {}, beginTrace = passTraceOn): OperationRecord {
  const trace = beginTrace(headers);
  return { started: performance.now(), trace, calls: [], codes: [], userErrors: [], deletions: [] };
}

function finish(
  options: ObservationOptions,
  record: OperationRecord,
  reply: FastifyReply,
  payload: unknown,
  ended: number,
): void {
  const { metrics, log, nameOf } = options;
  const { type, deletions, caller, started } = record;
  // A failure of Apollo Server's HTTP layer has no code.
  if (reply.statusCode >= 400 && record.codes.length === 0) {
    record.codes = [reply.statusCode < 500 ? 'BAD_REQUEST' : 'INTERNAL_SERVER_ERROR'];
  }
  record.trace.end?.(record);
  const { codes } = record;
  // Neither an operation nor a failure: the landing page.
  if (type === undefined && codes.length === 0) return;
  metrics.operation(record, ended - started);
  // Before compression.
  const bytes = typeof payload === 'string' ? Buffer.byteLength(payload) : 0;
  log[codes[0] === 'OVERLOADED' ? 'debug' : 'info'](
    lineOf(options, record, reply, bytes, ended - started),
    'operation',
  );
  // The audit: who asked for a deletion, and whom it was about.
  const about = { audit: 'deletePlayer', requestId: reply.request.id, caller: caller?.name };
  for (const { playerUniqueId, outcome } of deletions) log.info({ ...about, player: nameOf(playerUniqueId), outcome });
}

/** Longer names of operations are cut, in characters. */
const MAX_NAME_LENGTH = 100;
/** How many REST calls of a slow operation are logged. */
const MAX_CALLS = 100;

/** The log line of an operation. A slow one has its REST calls. */
function lineOf(
  { slowOperationMs }: ObservationOptions,
  { name, type, hash, trace, caller, rejection, calls, codes, userErrors }: OperationRecord,
  { request, statusCode }: FastifyReply,
  bytes: number,
  ms: number,
) {
  return {
    requestId: request.id,
    traceId: trace.traceId,
    operation: name?.slice(0, MAX_NAME_LENGTH),
    type,
    hash: hash?.slice(0, 16),
    caller: caller?.name,
    ...rejection,
    client: clientNameOf(request.headers),
    ms: rounded(ms),
    upstreamCalls: calls.length,
    ...(ms > slowOperationMs ? { calls: calls.slice(0, MAX_CALLS).map(describeCall) } : {}),
    bytes,
    status: statusCode,
    outcome: codes[0] ?? 'OK',
    ...(codes.length > 1 ? { codes } : {}),
    ...(userErrors.length > 0 ? { userErrors } : {}),
  };
}

/** The form of a client's name and version. Other values are not recorded. */
const CLIENT = /^[\w .,:@/+-]{1,64}$/;

/** Name and version of the client, from the headers that Apollo's clients send. */
function clientNameOf(headers: IncomingHttpHeaders): string | undefined {
  const parts = [headers['apollographql-client-name'], headers['apollographql-client-version']];
  return parts.filter((part) => typeof part === 'string' && CLIENT.test(part)).join('@') || undefined;
}

function describeCall({ method, template, status, ms, queueMs, error }: OperationRecord['calls'][number]) {
  return { call: `${method} ${template}`, status, ms: rounded(ms), queueMs: rounded(queueMs), error };
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** Called with errors that a client must not see. The client gets only `requestId`. */
export type ReportError = (error: Error, requestId: string) => void;

/**
 * Logs errors that a client must not see. Failures of the REST service are logged without a stack, with the status and the
 * code of its response. The rest of the response can contain personal data.
 */
export function reportTo(log: FastifyBaseLogger): ReportError {
  return (error, requestId) => {
    const cause = unwrapResolverError(error);
    if (!(cause instanceof UpstreamError)) {
      log.error({ err: cause, requestId }, 'field failed');
      return;
    }
    const { code, status, serviceCode, message, notSent } = cause;
    const line = { requestId, code, upstreamStatus: status, upstreamCode: serviceCode, reason: message };
    // Clients often disconnect, and while the breaker is open, every call fails: the operations' own lines show it.
    log[code === 'CANCELLED' || notSent ? 'debug' : 'warn'](line, 'upstream call failed');
  };
}
