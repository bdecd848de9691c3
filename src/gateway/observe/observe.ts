import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { FormattedExecutionResult, OperationDefinitionNode } from 'graphql';
import { stage } from '../../rest/batch-per-tick.ts';
import type { CallRecord, Operation } from '../../rest/call-context.ts';
import type { Caller } from '../access/caller.ts';
import type { Context } from '../graphql/context.ts';
import type { GatewayErrorCode } from '../graphql/errors.ts';
import type { Metrics } from './metrics.ts';
import { logOperation } from './operation-log.ts';
import { createNoted, type Noted } from './operation-record.ts';
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
  app.decorateRequest('noted', null);
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.routeOptions.url === path) request.noted = createNoted();
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    if (request.noted) finish({ noted: request.noted, reply, payload, ended: performance.now() });
    done(null, payload);
  });

  const finish = stage(({ noted, reply, payload, ended }: Finished) => {
    const { statusCode: status } = reply;
    if (status >= 400 && noted.codes.length === 0) noted.codes = [codeOf(status)];
    // Neither an operation nor a failure: the page for browsers.
    if (noted.type === undefined && noted.codes.length === 0) return;
    const ms = ended - noted.started;
    const bytes = lengthOf(payload, reply);
    metrics.operation(noted, ms);
    logOperation(log, noted, { requestId: reply.request.id, status, bytes, ms });
    noted.trace?.end(noted);
  }, process.nextTick);
}

/** An answer on its way. */
interface Finished {
  noted: Noted;
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
  { departure, deadline }: Pick<Operation, 'departure' | 'deadline'>,
  caller: Caller,
  tracing: Tracing | undefined,
): { operation: Operation; noted: Noted } {
  const parent = readTraceParent(request.headers['traceparent']);
  const noted = request.noted ?? createNoted();
  noted.caller = caller.name;
  noted.trace = tracing?.begin(parent);
  const operation = {
    departure,
    deadline,
    requestId: request.id,
    traceparent: noted.trace?.traceparent ?? writeTraceParent(parent ?? newTraceParent()),
    onCall(record: CallRecord) {
      noted.calls.push(record);
      noted.trace?.call(record);
    },
  };
  return { operation, noted };
}

/** Notes what an operation was and what came of it; with `showCalls` the answer tells the REST calls it took. */
export function noteAnswer(
  { errors }: FormattedExecutionResult,
  operation: OperationDefinitionNode | undefined,
  { noted, extensions }: Context,
  showCalls: boolean,
): void {
  noted.name = operation?.name?.value;
  noted.type = operation?.operation;
  if (errors) noted.codes = codesOf(errors);
  if (showCalls) extensions['upstream'] = noted.calls.map(showCall);
}

function codesOf(errors: readonly { extensions?: Record<string, unknown> }[]): string[] {
  return [...new Set(errors.map(({ extensions }) => String(extensions?.['code'])))];
}

function showCall({ method, template, status, ms, shared, cached }: Noted['calls'][number]) {
  return { method, template, status, ms: Math.round(ms * 10) / 10, shared, cached };
}
