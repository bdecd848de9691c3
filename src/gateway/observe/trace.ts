import { randomFillSync } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { CallRecord, TraceHeaders } from '../../rest/call-context.ts';

/** The outcome of an operation. */
export interface OperationOutcome {
  name: string | undefined;
  type: string | undefined;
  codes: readonly string[];
}

/** The trace of one operation. */
export interface OperationTrace {
  readonly traceId: string;
  /** Begins the span of a REST call of the operation. */
  beginCall(): CallTrace;
  end(outcome: OperationOutcome): void;
}

/** The span of one REST call. */
export interface CallTrace {
  /** The headers of the call, so that the REST service continues this span. */
  readonly headers: TraceHeaders;
  end(record: CallRecord): void;
}

/** Sends traces to a collector. */
export interface Tracing {
  /** Begins the trace of an operation, as part of the client's trace if there is one. */
  begin(parent: TraceParent | undefined): OperationTrace;
  /** Sends the remaining spans; gives up when `hurry` aborts. */
  stop(hurry: AbortSignal): Promise<void>;
}

/** W3C trace context: 32, 16 and 2 hexadecimal digits. */
export interface TraceParent {
  traceId: string;
  spanId: string;
  flags: string;
  /** The header `tracestate`, which is passed on as it is. */
  state: string | undefined;
}

/** Version, trace id, parent id, flags; a later version than 00 may add more (W3C Trace Context, section 4.3). */
const FORM = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** A `tracestate` that is passed on (section 3.3.1.5: at least 512 characters). */
const STATE = /^[\x20-\x7e]{1,512}$/;

/** Reads the headers of a request; undefined when `traceparent` is absent or not well-formed. */
export function readTraceParent({ traceparent, tracestate }: IncomingHttpHeaders): TraceParent | undefined {
  const [, version, traceId, spanId, flags, more] = (typeof traceparent === 'string' && FORM.exec(traceparent)) || [];
  if (!traceId || !spanId || !flags || (version === '00' && more)) return undefined;
  const state = typeof tracestate === 'string' && STATE.test(tracestate) ? tracestate : undefined;
  return { traceId, spanId, flags, state };
}

export function writeTraceParent({ traceId, spanId, flags, state }: TraceParent): TraceHeaders {
  return { traceparent: `00-${traceId}-${spanId}-${flags}`, tracestate: state };
}

/** A trace context for an operation without a trace. Not sampled. */
export function newTraceParent(): TraceParent {
  if (used === store.length) {
    randomFillSync(store);
    used = 0;
  }
  const digits = store.toString('hex', used, used + BYTES);
  used += BYTES;
  return { traceId: digits.slice(0, 32), spanId: digits.slice(32), flags: '00', state: undefined };
}

/** The bytes of one trace id and one span id. */
const BYTES = 24;
/** Random bytes for many ids: one large request to the system costs about as much as a small one. */
const store = Buffer.alloc(BYTES * 256);
let used = store.length;
