import { randomFillSync } from 'node:crypto';
import type { CallRecord } from '../../rest/call-context.ts';

/** What became of an operation. */
export interface OperationOutcome {
  name: string | undefined;
  type: string | undefined;
  codes: readonly string[];
}

/** The trace of one operation. */
export interface OperationTrace {
  /** What goes upstream as `traceparent`. */
  readonly traceparent: string;
  /** A REST call of the operation is over at this moment. */
  call(record: CallRecord): void;
  end(outcome: OperationOutcome): void;
}

/** Sends traces to a collector. */
export interface Tracing {
  /** Begins the trace of an operation, as a part of its client's trace when that is given. */
  begin(parent: TraceParent | undefined): OperationTrace;
  /** Sends what is left, unless the collector is too slow for that. */
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

/** The trace context of an operation that nobody traces: sampled by none, so that it costs nobody anything. */
export function newTraceParent(): TraceParent {
  if (used === store.length) {
    randomFillSync(store);
    used = 0;
  }
  const digits = store.toString('hex', used, used + BYTES);
  used += BYTES;
  return { traceId: digits.slice(0, 32), spanId: digits.slice(32), flags: '00' };
}

/** A trace id's bytes and a span id's. */
const BYTES = 24;
/** Random bytes for many of them: asking the system for some costs much the same as asking for many. */
const store = Buffer.alloc(BYTES * 256);
let used = store.length;
