import type { CallRecord } from '../rest/call-context.ts';
import type { Trace } from './trace-context.ts';

/** A `deletePlayer` and its outcome. */
export interface Deletion {
  playerUniqueId: string;
  outcome: 'DELETED' | 'NOT_FOUND' | 'REFUSED' | 'FAILED';
}

/** Who sent an operation, as far as log and metrics need it. */
export interface Sender {
  /** A client's name, or a keyed hash of the player or client that a JWT names. */
  readonly name: string;
  readonly sub?: string;
  readonly scopes: ReadonlySet<string>;
}

/** What is recorded of a request: its log line, its metrics and its trace are made of this. */
export interface OperationRecord {
  /** When it arrived, on the clock of `performance.now()`. */
  readonly started: number;
  readonly trace: Trace;
  /** The operation's name; undefined without a name, and until it is known. */
  name?: string | undefined;
  /** `query` or `mutation`; undefined when there was no operation. */
  type?: string | undefined;
  /** SHA-256 of the document, in hexadecimal; undefined while it is not known. */
  hash?: string | undefined;
  /** Undefined without a valid token. */
  caller?: Sender | undefined;
  /** Why the token was rejected: parts of the log line. */
  rejection?: object | undefined;
  /** The finished REST calls of the operation. */
  readonly calls: CallRecord[];
  /** The codes of the response's errors, each once. */
  codes: readonly string[];
  /** The codes of the mutations' user errors, each once. */
  userErrors: readonly string[];
  /** The deletions of players, for the audit. */
  readonly deletions: Deletion[];
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null on routes other than the GraphQL route. */
    record: OperationRecord | null;
  }
}
