import type { CallRecord } from '../../rest/call-context.ts';
import type { Caller } from '../access/caller.ts';
import type { OperationTrace } from './trace.ts';

/** The record of a request: the data for its log line, its metrics and its trace. */
export interface OperationRecord {
  /** When it arrived, on the clock of `performance.now()`. */
  readonly started: number;
  /** The operation's name; undefined without a name, and until it is known. */
  name: string | undefined;
  /** `query` or `mutation`; undefined when there was no operation. */
  type: string | undefined;
  /** Undefined without a valid token. */
  caller: Caller | undefined;
  /** The finished REST calls of the operation. */
  readonly calls: CallRecord[];
  /** The codes of the response's errors, each once. */
  codes: readonly string[];
  trace: OperationTrace | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null on routes for other requests than operations. */
    record: OperationRecord | null;
  }
}
