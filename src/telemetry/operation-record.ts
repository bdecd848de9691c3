import type { Caller, Rejection } from '../access/caller.ts';
import type { CallRecord, TraceHeaders } from '../rest/call-context.ts';
import type { OperationTrace } from './tracing.ts';

/** A `deletePlayer` and its outcome. */
export interface Deletion {
  playerUniqueId: string;
  outcome: 'DELETED' | 'NOT_FOUND' | 'REFUSED' | 'FAILED';
}

/** What is recorded of a request: its log line, its metrics and its trace are made of this. */
export interface OperationRecord {
  /** When it arrived, on the clock of `performance.now()`. */
  readonly started: number;
  /** The operation's name; undefined without a name, and until it is known. */
  name: string | undefined;
  /** `query` or `mutation`; undefined when there was no operation. */
  type: string | undefined;
  /** SHA-256 of the document, in hexadecimal; undefined while it is not known. */
  hash: string | undefined;
  /** The trace that the operation is part of; undefined when no operation was executed. */
  traceId: string | undefined;
  /** Name and version of the client application, as it says. */
  client: string | undefined;
  /** Undefined without a valid token. */
  caller: Caller | undefined;
  /** Why the token was rejected. */
  rejection: Rejection | undefined;
  /** The finished REST calls of the operation. */
  readonly calls: CallRecord[];
  /** The codes of the response's errors, each once. */
  codes: readonly string[];
  /** The codes of the mutations' user errors, each once. */
  userErrors: readonly string[];
  /** The deletions of players, for the audit. */
  readonly deletions: Deletion[];
  /** With a collector: the operation's trace. */
  trace: OperationTrace | undefined;
  /** Without a collector: what the REST calls pass on, so that the REST service continues the client's trace. */
  traceHeaders: TraceHeaders | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null on routes other than the GraphQL route. */
    record: OperationRecord | null;
  }
}
