import type { CallRecord } from '../../rest/call-context.ts';
import type { OperationTrace } from './trace.ts';

/** What is recorded of a request while it is worked on: its log line, its metrics and its trace are made of this. */
export interface OperationRecord {
  /** When it arrived, on the clock of `performance.now()`. */
  readonly started: number;
  /** The operation's name; undefined for one without a name, and as long as it is not known. */
  name: string | undefined;
  /** `query` or `mutation`; undefined when no operation came about. */
  type: string | undefined;
  /** Who asked, by the name of the token's subject or client; undefined for somebody who was not let in. */
  caller: string | undefined;
  /** The operation's calls to the REST service that are over. */
  readonly calls: CallRecord[];
  /** The codes of the answer's errors, each once. */
  codes: readonly string[];
  trace: OperationTrace | undefined;
}

export function createOperationRecord(): OperationRecord {
  return {
    started: performance.now(),
    name: undefined,
    type: undefined,
    caller: undefined,
    calls: [],
    codes: [],
    trace: undefined,
  };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null on routes that take no operations. */
    record: OperationRecord | null;
  }
}
