import { createHmac } from 'node:crypto';
import { channel } from 'node:diagnostics_channel';
import type { IncomingHttpHeaders } from 'node:http';
import { unwrapResolverError } from '@apollo/server/errors';
import { parseTraceParent } from '@opentelemetry/core';
import type { FastifyBaseLogger, FastifyReply } from 'fastify';
import type { Caller } from '../caller.ts';
import type { Config } from '../config/config.ts';
import type { Secret } from '../config/secret.ts';
import { ClientError } from '../errors.ts';
import { clientAddress } from '../limits/addresses.ts';
import type { CallContext, CallRecord } from '../rest/call-context.ts';
import { UpstreamError } from '../rest/upstream-error.ts';

/** What is recorded of a request: its log line, its metrics and its trace are made of this. */
export interface OperationRecord {
  /** When it arrived, by `performance.now()`, and the time until its response, in milliseconds. */
  readonly started: number;
  ms: number;
  readonly trace: Trace;
  /** Name, type (`query` or `mutation`) and the SHA-256 of the document in hexadecimal, once they are known. */
  name?: string | undefined;
  type?: string | undefined;
  hash?: string | undefined;
  /** The file name of the last manifest that lists it, and the schema coordinates of what it uses that is deprecated. */
  manifest?: string | undefined;
  deprecated?: readonly string[];
  /** Units for the length of its body, until they are consumed: with those of its operation, or after the response. */
  bodyUnits?: number;
  /** What executed it; undefined for a request that was refused. */
  engine?: 'graphql-jit' | 'graphql-js';
  /** Undefined without a valid token. */
  caller?: Caller | undefined;
  /** Why the token was rejected: parts of the log line. */
  rejection?: object | undefined;
  /** The players that a caller with `any-player` read or changed. */
  players?: Set<string>;
  readonly calls: CallRecord[];
  /** How many `trackEvents` it has with an idempotency key, without one, and with the key of earlier events (nothing was sent). */
  reports?: { keyed: number; unkeyed: number; repeated: number };
  /** The codes of the response's errors, each once, and those of the mutations' user errors. */
  codes: readonly string[];
  readonly userErrors: Set<string>;
  /** The `deletePlayer`s, for the audit. */
  readonly deletions: {
    /** Undefined when the operation was refused for its arguments. */
    playerUniqueId: string | undefined;
    outcome: 'DELETED' | 'NOT_FOUND' | 'REFUSED' | 'FAILED' | 'UNKNOWN';
  }[];
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null on routes other than the GraphQL route. */
    record: OperationRecord | null;
  }
}

export interface Observation {
  metrics: { operation(record: OperationRecord, client: string | undefined): void };
  log: FastifyBaseLogger;
  tracing: { begin(headers: IncomingHttpHeaders): Trace } | undefined;
  /** The name for the log of a player. */
  nameOf(id: string): string;
  config: Pick<Config, 'SLOW_OPERATION_MS' | 'LOG_ADDRESSES'>;
}

/** Names of players for the log: keyed hashes, because ids can be personal data. All replicas have the secret, so they agree. */
export function createPseudonyms(secret: Secret): (id: string) => string {
  const key = createHmac('sha256', secret).update('names in the log').digest();
  return (id) => `hmac:${createHmac('sha256', key).update(id).digest('hex').slice(0, 16)}`;
}

/** How many characters of an operation's name, and how many REST calls of a slow one, are logged. */
const MAX_LOGGED = 100;
/** How many players of an operation are named. */
const MAX_NAMED = 5;

export function createOperationRecord(headers: IncomingHttpHeaders, beginTrace = passTraceOn): OperationRecord {
  const trace = beginTrace(headers);
  return { started: performance.now(), ms: 0, trace, calls: [], codes: [], userErrors: new Set(), deletions: [] };
}

/** The metrics, log line and audit of a request, and the end of its trace. `payload` is the response before compression. */
export function finish(options: Observation, record: OperationRecord, reply: FastifyReply, payload: unknown): void {
  const { metrics, log, nameOf, config } = options;
  const { request, statusCode: status } = reply;
  // A failure of Apollo Server's HTTP layer has no code.
  if (status >= 400 && record.codes.length === 0) {
    record.codes = [status < 500 ? 'BAD_REQUEST' : 'INTERNAL_SERVER_ERROR'];
  }
  const { name, type, hash, ms, trace, caller, calls, codes, userErrors } = record;
  trace.end?.(record);
  // Neither an operation nor a failure: the page of the Sandbox.
  if (type === undefined && codes.length === 0) return;
  const client = clientNameOf(request.headers);
  const isOfAddress = status === 401 || status === 429;
  metrics.operation(record, client);
  const line = {
    requestId: request.id,
    traceId: trace.traceId,
    operation: name?.slice(0, MAX_LOGGED),
    type,
    hash: hash?.slice(0, 16),
    caller: caller?.name,
    players: record.players && [...record.players].slice(0, MAX_NAMED).map(nameOf),
    ...record.rejection,
    address: isOfAddress ? (config.LOG_ADDRESSES ? request.ip : nameOf(clientAddress(request.ip))) : undefined,
    client,
    ms: rounded(ms),
    upstreamCalls: calls.length,
    calls: ms > config.SLOW_OPERATION_MS ? calls.slice(0, MAX_LOGGED).map(describeCall) : undefined,
    bytes: typeof payload === 'string' || Buffer.isBuffer(payload) ? Buffer.byteLength(payload) : 0,
    status,
    outcome: codes[0] ?? 'OK',
    codes: codes.length > 1 ? codes : undefined,
    reports: record.reports,
    userErrors: userErrors.size > 0 ? [...userErrors] : undefined,
  };
  // Refused before its operation was read: there can be very many.
  log[codes[0] === 'OVERLOADED' && type === undefined ? 'debug' : 'info'](line, 'operation');
  const about = { audit: 'deletePlayer', requestId: request.id, caller: caller?.name };
  for (const { playerUniqueId, outcome } of record.deletions) {
    // At every LOG_LEVEL but `silent`.
    const audit = log.level === 'silent' ? log : log.child({}, { level: 'info' });
    audit.info({ ...about, player: playerUniqueId === undefined ? undefined : nameOf(playerUniqueId), outcome });
  }
}

/** Name and version of the client, from the headers that Apollo's clients send. Values of another form are not recorded. */
function clientNameOf(headers: IncomingHttpHeaders): string | undefined {
  const parts = [headers['apollographql-client-name'], headers['apollographql-client-version']];
  return parts.filter((part) => /^[\w .,:@/+-]{1,64}$/.test(String(part ?? ''))).join('@') || undefined;
}

function describeCall({ endpoint, status, ms, queueMs, error }: CallRecord) {
  return { call: endpoint.name, status, ms: rounded(ms), queueMs: rounded(queueMs), error };
}

/** Milliseconds with one decimal. */
export const rounded = (ms: number) => Math.round(ms * 10) / 10;

/** Called with errors that a client must not see. The client gets only `requestId`. */
export type ReportError = (error: unknown, operation: Pick<CallContext, 'requestId' | 'caller'>) => void;

/** Logs these errors; failures of the REST service with the status and code of its response, which can contain personal data. */
export function reportTo(log: FastifyBaseLogger): ReportError {
  return (error, { requestId, caller: { name: caller } }) => {
    const cause = unwrapResolverError(error);
    if (cause instanceof ClientError) {
      return log.warn({ requestId, caller, code: cause.code, reason: cause.originalError?.message }, 'field failed');
    }
    if (!(cause instanceof UpstreamError)) return log.error({ err: cause, requestId, caller }, 'field failed');
    const { code, status, serviceCode, message, skipped, cause: origin } = cause;
    const line = { requestId, caller, code, upstreamStatus: status, upstreamCode: serviceCode, reason: message };
    // The code of a connection error, such as ENOTFOUND. An error without a code is a bug of the gateway.
    const why = Object(origin).code === undefined ? { err: origin } : { cause: Object(origin).code };
    // Clients often disconnect, and while the breaker is open, every call fails: the operations' own lines show it.
    log[code === 'CANCELLED' || skipped ? 'debug' : 'warn']({ ...line, ...why }, 'upstream call failed');
  };
}

export interface Trace {
  /** 32 hexadecimal digits; undefined for a request without a valid `traceparent` where there is no collector. */
  readonly traceId?: string;
  /** What the REST calls send: `traceparent` and perhaps `tracestate`, names and values in turn. */
  readonly headers: readonly string[];
  /** With a collector: ends the span of the request. */
  end?(operation: { name?: string | undefined; type?: string | undefined; codes: readonly string[] }): void;
}

/**
 * Whether an agent that NODE_OPTIONS loaded, such as New Relic's, gives each REST call a `traceparent` of its own. With a second
 * one, the service would have none (W3C Trace Context, 3.2).
 */
export const isTracedByAgent = () => channel('undici:request:create').hasSubscribers;

/** Without a collector: passes on the client's trace, and up to 512 characters of `tracestate` (W3C Trace Context, 3.3.1.5). */
function passTraceOn({ traceparent, tracestate }: IncomingHttpHeaders): Trace {
  const parent = parseTraceParent(String(traceparent));
  if (!parent) return { headers: [] };
  if (isTracedByAgent()) return { traceId: parent.traceId, headers: [] };
  const state = typeof tracestate === 'string' && tracestate.length <= 512 ? ['tracestate', tracestate] : [];
  // In the format of version 00.
  return { traceId: parent.traceId, headers: ['traceparent', `00${String(traceparent).slice(2, 55)}`, ...state] };
}
