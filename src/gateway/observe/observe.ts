import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { FormattedExecutionResult, OperationDefinitionNode } from 'graphql';
import { stage } from '../../rest/batch-per-tick.ts';
import type { CallContext, CallRecord } from '../../rest/call-context.ts';
import type { Caller } from '../access/caller.ts';
import type { Context } from '../graphql/context.ts';
import type { GatewayErrorCode } from '../graphql/errors.ts';
import type { Metrics } from './metrics.ts';
import { logOperation } from './operation-log.ts';
import { createOperationRecord, type OperationRecord } from './operation-record.ts';
import { newTraceParent, readTraceParent, type Tracing, writeTraceParent } from './trace.ts';

export interface ObserveOptions {
  metrics: Metrics;
  log: FastifyBaseLogger;
}

/**
 * Notes what becomes of every request to `path`. When the answer is sent, whoever gave it, this makes one line in the log,
 * the counts in the metrics and the end of the trace.
 */
export function observeOperations(app: FastifyInstance, path: string, { metrics, log }: ObserveOptions): void {
  app.decorateRequest('record', null);
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.routeOptions.url === path) request.record = createOperationRecord();
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    if (request.record) finish({ record: request.record, reply, payload, ended: performance.now() });
    done(null, payload);
  });

  const finish = stage(({ record, reply, payload, ended }: Finished) => {
    const { statusCode: status } = reply;
    if (status >= 400 && record.codes.length === 0) record.codes = [codeOf(status)];
    // Neither an operation nor a failure: the page for browsers.
    if (record.type === undefined && record.codes.length === 0) return;
    const ms = ended - record.started;
    const bytes = lengthOf(payload, reply);
    metrics.operation(record, ms);
    logOperation(log, record, { requestId: reply.request.id, status, bytes, ms });
    record.trace?.end(record);
  }, process.nextTick);
}

/** An answer on its way. */
interface Finished {
  record: OperationRecord;
  reply: FastifyReply;
  payload: unknown;
  /** On the clock of `performance.now()`. */
  ended: number;
}

/** How many bytes an answer has, before it is compressed. Mostly it is sent by then, and they have been counted. */
function lengthOf(payload: unknown, reply: FastifyReply): number {
  const counted = reply.hasHeader('content-encoding') ? undefined : reply.getHeader('content-length');
  return Number(counted ?? (typeof payload === 'string' ? Buffer.byteLength(payload) : 0));
}

/** What an answer that never became an operation is counted as. */
function codeOf(status: number): GatewayErrorCode {
  switch (status) {
    case 401:
      return 'UNAUTHENTICATED';
    case 429:
      return 'RATE_LIMITED';
    case 503:
      return 'OVERLOADED';
    default:
      return status < 500 ? 'BAD_REQUEST' : 'INTERNAL_SERVER_ERROR';
  }
}

/** Begins to note an operation of a caller who was let in, and its calls to the REST service. */
export function observeOperation(
  request: FastifyRequest,
  { cancellation, deadline }: Pick<CallContext, 'cancellation' | 'deadline'>,
  caller: Caller,
  tracing: Tracing | undefined,
): { operation: CallContext; record: OperationRecord } {
  const parent = readTraceParent(request.headers['traceparent']);
  const record = request.record ?? createOperationRecord();
  record.caller = caller.name;
  record.trace = tracing?.begin(parent);
  const operation = {
    cancellation,
    deadline,
    requestId: request.id,
    traceparent: record.trace?.traceparent ?? writeTraceParent(parent ?? newTraceParent()),
    onCall(call: CallRecord) {
      record.calls.push(call);
      record.trace?.call(call);
    },
  };
  return { operation, record };
}

/** Notes what an operation was and what came of it; with `showCalls` the answer tells the REST calls it took. */
export function noteAnswer(
  { errors }: FormattedExecutionResult,
  operation: OperationDefinitionNode | undefined,
  { record, extensions }: Context,
  showCalls: boolean,
): void {
  record.name = operation?.name?.value;
  record.type = operation?.operation;
  if (errors) record.codes = codesOf(errors);
  if (showCalls) extensions['upstream'] = record.calls.map(showCall);
}

function codesOf(errors: readonly { extensions?: Record<string, unknown> }[]): string[] {
  return [...new Set(errors.map(({ extensions }) => String(extensions?.['code'])))];
}

function showCall({ method, template, status, ms, shared, cached }: OperationRecord['calls'][number]) {
  return { method, template, status, ms: Math.round(ms * 10) / 10, shared, cached };
}
