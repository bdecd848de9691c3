import type { CallRecord, TraceHeaders, TraceParent } from '../../rest/call-context.ts';

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
