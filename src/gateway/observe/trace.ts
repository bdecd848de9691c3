import { randomFillSync } from 'node:crypto';
import type { CallRecord } from '../../rest/call-context.ts';

/** The outcome of an operation. */
export interface OperationOutcome {
  name: string | undefined;
  type: string | undefined;
  codes: readonly string[];
}

/** The trace of one operation. */
export interface OperationTrace {
  /** The `traceparent` header of the operation's REST calls. */
  readonly traceparent: string;
  /** Records a REST call of the operation that ends now. */
  call(record: CallRecord): void;
  end(outcome: OperationOutcome): void;
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
}

/** Version, trace id, parent id, flags; a later version than 00 may add more (W3C Trace Context, section 4.3). */
const FORM = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;

/** Reads the header `traceparent`; undefined when it is absent or not well-formed. */
export function readTraceParent(header: string | string[] | undefined): TraceParent | undefined {
  const [, version, traceId, spanId, flags, more] = (typeof header === 'string' && FORM.exec(header)) || [];
  if (!traceId || !spanId || !flags || (version === '00' && more)) return undefined;
  return { traceId, spanId, flags };
}

export function writeTraceParent({ traceId, spanId, flags }: TraceParent): string {
  return `00-${traceId}-${spanId}-${flags}`;
}

/** A trace context for an operation without a trace. Not sampled. */
export function newTraceParent(): TraceParent {
  if (used === store.length) {
    randomFillSync(store);
    used = 0;
  }
  const digits = store.toString('hex', used, used + BYTES);
  used += BYTES;
  return { traceId: digits.slice(0, 32), spanId: digits.slice(32), flags: '00' };
}

/** The bytes of one trace id and one span id. */
const BYTES = 24;
/** Random bytes for many ids: one large request to the system costs about as much as a small one. */
const store = Buffer.alloc(BYTES * 256);
let used = store.length;
