import type { CallRecord } from '../../rest/call-context.ts';
import type { Caller } from '../access/caller.ts';
import type { OperationTrace } from './trace.ts';

/** What is recorded of a request: its log line, its metrics and its trace are made of this. */
export interface OperationRecord {
  /** When it arrived, on the clock of `performance.now()`. */
  readonly started: number;
  /** The operation's name; undefined for one without a name, and while it is not known. */
  name: string | undefined;
  /** `query` or `mutation`; undefined when no operation came about. */
  type: string | undefined;
  /** Undefined for somebody without a valid token. */
  caller: Caller | undefined;
  /** The operation's REST calls that are over. */
  readonly calls: CallRecord[];
  /** The codes of the response's errors, each once. */
  codes: readonly string[];
  trace: OperationTrace | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null on routes that take no operations. */
    record: OperationRecord | null;
  }
}
