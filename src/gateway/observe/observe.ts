import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { batchPerTick } from '../../rest/batch-per-tick.ts';
import type { CallContext, CallRecord } from '../../rest/call-context.ts';
import type { Caller } from '../access/caller.ts';
import type { GatewayErrorCode } from '../graphql/errors.ts';
import type { KnownOperation } from '../graphql/operations.ts';
import type { Metrics } from './metrics.ts';
import { logDeletions, logOperation } from './operation-log.ts';
import type { OperationRecord } from './operation-record.ts';
import { newTraceParent, type OperationTrace, readTraceParent, type Tracing, writeTraceParent } from './trace.ts';

export interface ObservationOptions {
  metrics: Metrics;
  log: FastifyBaseLogger;
  tracing: Tracing | undefined;
  /** Operations that take longer are logged with their REST calls, in milliseconds. */
  slowOperationMs: number;
}

/**
 * Records every request to `path`. When its response is sent, the record is written as one log line, counted in the metrics,
 * and ends the trace.
 */
export class Observation {
  readonly #options: ObservationOptions;

  constructor(app: FastifyInstance, path: string, options: ObservationOptions) {
    this.#options = options;
    app.decorateRequest('record', null);
    app.addHook('onRequest', (request, _reply, done) => {
      if (request.routeOptions.url === path) request.record = createOperationRecord();
      done();
    });
    const finishLater = batchPerTick((finished: Finished) => this.#finish(finished), process.nextTick);
    app.addHook('onSend', (request, reply, payload, done) => {
      if (request.record) finishLater({ record: request.record, reply, payload, ended: performance.now() });
      done(null, payload);
    });
  }

  /** Begins to record the execution of an operation and its REST calls. */
  begin(
    request: FastifyRequest,
    known: KnownOperation | undefined,
    caller: Caller,
    { cancellation, deadline }: Pick<CallContext, 'cancellation' | 'deadline'>,
  ): { call: CallContext; record: OperationRecord } {
    const parent = readTraceParent(request.headers);
    const record = request.record ?? createOperationRecord();
    record.caller = caller;
    record.name = known?.operation.name?.value;
    record.type = known?.operation.operation;
    record.hash = known?.hash;
    record.client = clientOf(request);
    record.trace = this.#options.tracing?.begin(parent);
    const passedOn = record.trace ? undefined : (parent ?? newTraceParent());
    record.traceId = record.trace?.traceId ?? passedOn?.traceId;
    const call: CallContext = {
      cancellation,
      deadline,
      requestId: request.id,
      // A server has many users. A single player must not use all connections.
      callerKey: caller.scopes.has('any-player') ? undefined : caller.key,
      couponMembers: known?.couponMembers,
      trace: passedOn && writeTraceParent(passedOn),
      onCall: (ended: CallRecord) => record.calls.push(ended),
    };
    const { trace } = record;
    if (trace) call.beginCall = () => beginTraced(call, trace);
    return { call, record };
  }

  #finish({ record, reply, payload, ended }: Finished): void {
    const { metrics, log, slowOperationMs } = this.#options;
    const { statusCode: status } = reply;
    if (status >= 400 && record.codes.length === 0) record.codes = [codeOf(status)];
    // Neither an operation nor a failure: the landing page.
    if (record.type === undefined && record.codes.length === 0) return;
    const ms = ended - record.started;
    metrics.operation(record, ms);
    const slow = ms > slowOperationMs;
    logOperation(log, record, { requestId: reply.request.id, status, bytes: lengthOf(payload, reply), ms, slow });
    logDeletions(log, record, reply.request.id);
    record.trace?.end(record);
  }
}

/** The context of one call, whose span ends with it. */
function beginTraced(operation: CallContext, trace: OperationTrace): CallContext {
  const { headers, end } = trace.beginCall();
  const onCall = (record: CallRecord) => {
    operation.onCall?.(record);
    end(record);
  };
  return { ...operation, trace: headers, onCall };
}

/** A response that is being sent. */
interface Finished {
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
    calls: [],
    codes: [],
    userErrors: [],
    deletions: [],
    trace: undefined,
  };
}

/** What an application says of itself is shortened and without anything that is not a name. */
const CLIENT = /^[\w .,:@/+-]{1,64}$/;

/** Name and version of the client, from the headers that Apollo's clients send. */
function clientOf({ headers }: FastifyRequest): string | undefined {
  const parts = [headers['apollographql-client-name'], headers['apollographql-client-version']];
  const known = parts.filter((part): part is string => typeof part === 'string' && CLIENT.test(part));
  return known.length > 0 ? known.join('@') : undefined;
}
