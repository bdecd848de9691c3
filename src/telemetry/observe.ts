import { createHmac, randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { unwrapResolverError } from '@apollo/server/errors';
import { parseTraceParent } from '@opentelemetry/core';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply } from 'fastify';
import { reveal, type Secret } from '../config/secret.ts';
import type { CallRecord } from '../rest/call-context.ts';
import { UpstreamError } from '../rest/errors.ts';

/** What is recorded of a request: its log line, its metrics and its trace are made of this. */
export interface OperationRecord {
  /** When it arrived, on the clock of `performance.now()`, and how long it took until its response, in milliseconds. */
  readonly started: number;
  ms: number;
  readonly trace: Trace;
  /** Name, type (`query` or `mutation`) and the SHA-256 of the document in hexadecimal, once they are known. */
  name?: string | undefined;
  type?: string | undefined;
  hash?: string | undefined;
  /** Undefined without a valid token. The name is a client's, or a keyed hash of the player or client that a JWT names. */
  caller?: { readonly name: string; readonly sub?: string; readonly scopes: ReadonlySet<string> } | undefined;
  /** Why the token was rejected: parts of the log line. */
  rejection?: object | undefined;
  /** The finished REST calls of the operation. */
  readonly calls: CallRecord[];
  /** The codes of the response's errors, each once, and those of the mutations' user errors. */
  codes: readonly string[];
  userErrors: readonly string[];
  /** The `deletePlayer`s, for the audit. */
  readonly deletions: { playerUniqueId: string; outcome: 'DELETED' | 'NOT_FOUND' | 'REFUSED' | 'FAILED' }[];
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null on routes other than the GraphQL route. */
    record: OperationRecord | null;
  }
}

export interface ObservationOptions {
  metrics: { operation(record: OperationRecord): void };
  log: FastifyBaseLogger;
  tracing: { begin(headers: IncomingHttpHeaders): Trace } | undefined;
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
    if (record) record.ms = performance.now() - record.started;
    // After the response is handed to the socket.
    if (record) process.nextTick(finish, options, record, reply, payload);
    done(null, payload);
  });
}

export function createOperationRecord(headers: IncomingHttpHeaders = {}, beginTrace = passTraceOn): OperationRecord {
  const trace = beginTrace(headers);
  return { started: performance.now(), ms: 0, trace, calls: [], codes: [], userErrors: [], deletions: [] };
}

function finish(options: ObservationOptions, record: OperationRecord, reply: FastifyReply, payload: unknown): void {
  const { metrics, log, nameOf } = options;
  // A failure of Apollo Server's HTTP layer has no code.
  if (reply.statusCode >= 400 && record.codes.length === 0) {
    record.codes = [reply.statusCode < 500 ? 'BAD_REQUEST' : 'INTERNAL_SERVER_ERROR'];
  }
  record.trace.end?.(record);
  // Neither an operation nor a failure: the landing page.
  if (record.type === undefined && record.codes.length === 0) return;
  metrics.operation(record);
  log[record.codes[0] === 'OVERLOADED' ? 'debug' : 'info'](lineOf(options, record, reply, payload), 'operation');
  // The audit: who asked for a deletion, and whom it was about.
  const about = { audit: 'deletePlayer', requestId: reply.request.id, caller: record.caller?.name };
  for (const { playerUniqueId, outcome } of record.deletions) {
    log.info({ ...about, player: nameOf(playerUniqueId), outcome });
  }
}

/** How many characters of an operation's name, and how many REST calls of a slow one, are logged. */
const MAX_NAME_LENGTH = 100;
const MAX_CALLS = 100;

/** The log line of an operation. A slow one has its REST calls. */
function lineOf(
  { slowOperationMs }: ObservationOptions,
  { name, type, hash, ms, trace, caller, rejection, calls, codes, userErrors }: OperationRecord,
  { request, statusCode }: FastifyReply,
  payload: unknown,
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
    // Before compression.
    bytes: typeof payload === 'string' ? Buffer.byteLength(payload) : 0,
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
    if (!(cause instanceof UpstreamError)) return log.error({ err: cause, requestId }, 'field failed');
    const { code, status, serviceCode, message, notSent } = cause;
    const line = { requestId, code, upstreamStatus: status, upstreamCode: serviceCode, reason: message };
    // Clients often disconnect, and while the breaker is open, every call fails: the operations' own lines show it.
    log[code === 'CANCELLED' || notSent ? 'debug' : 'warn'](line, 'upstream call failed');
  };
}

/** The trace of a request. */
export interface Trace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** What the REST calls send: `traceparent` and perhaps `tracestate`, names and values in turn. */
  readonly headers: readonly string[];
  /** With a collector: ends the span of the request. */
  end?(operation: { name?: string | undefined; type?: string | undefined; codes: readonly string[] }): void;
}

/** A `tracestate` that is passed on (W3C Trace Context, section 3.3.1.5: at least 512 characters). */
const STATE = /^[\x20-\x7e]{1,512}$/;

/** Without a collector: passes on the client's trace to the REST service, or a new one that is not sampled. */
function passTraceOn({ traceparent, tracestate }: IncomingHttpHeaders): Trace {
  const parent = parseTraceParent(String(traceparent));
  // Node gets the random bytes for many UUIDs at once.
  const digits = parent ? '' : `${randomUUID()}${randomUUID()}`.replaceAll('-', '');
  const { traceId, spanId, traceFlags } = parent ?? {
    traceId: digits.slice(0, 32),
    spanId: digits.slice(48),
    traceFlags: 0,
  };
  const state = parent && typeof tracestate === 'string' && STATE.test(tracestate) ? ['tracestate', tracestate] : [];
  const flags = traceFlags.toString(16).padStart(2, '0');
  return { traceId, headers: ['traceparent', `00-${traceId}-${spanId}-${flags}`, ...state] };
}

/**
 * Names for the log of players and of the callers of JWTs: keyed hashes. Their ids can be e-mail addresses or telephone
 * numbers, which a hash without a key would not hide. The key is derived from a secret of the deployment, so that a player has
 * the same name in all replicas.
 */
export function createPseudonyms(secret: Secret): (id: string) => string {
  const key = createHmac('sha256', reveal(secret)).update('names in the log').digest();
  return (id) => `hmac:${createHmac('sha256', key).update(id).digest('hex').slice(0, 16)}`;
}
