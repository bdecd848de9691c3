import { createHash } from 'node:crypto';
import { unwrapResolverError } from '@apollo/server/errors';
import type { FastifyBaseLogger } from 'fastify';
import { UpstreamError } from '../../rest/errors.ts';
import type { ReportError } from '../graphql/response.ts';
import type { OperationRecord } from './operation-record.ts';

/** Longer names of operations are cut, in characters. */
const MAX_NAME_LENGTH = 100;

/** What is known of a response when it is sent. */
interface Sent {
  requestId: string;
  status: number;
  bytes: number;
  ms: number;
  /** Whether the operation took so long that its REST calls are logged too. */
  slow: boolean;
}

/** Logs one line for each operation. A refusal for overload is logged at debug only. */
export function logOperation(log: FastifyBaseLogger, record: OperationRecord, sent: Sent): void {
  const { name, type, caller, calls, codes, userErrors, hash, traceId, client } = record;
  const { requestId, status, bytes, ms, slow } = sent;
  const line = {
    requestId,
    traceId,
    operation: name?.slice(0, MAX_NAME_LENGTH),
    type,
    hash: hash?.slice(0, 16),
    caller: caller && pseudonym(caller.name),
    client,
    ms: rounded(ms),
    upstreamCalls: calls.length,
    ...(slow ? { calls: calls.slice(0, MAX_CALLS).map(describeCall) } : {}),
    bytes,
    status,
    outcome: codes.length > 0 ? codes : 'OK',
    ...(userErrors.length > 0 ? { userErrors } : {}),
  };
  if (codes[0] === 'OVERLOADED') log.debug(line, 'operation');
  else log.info(line, 'operation');
}

/** The audit: one line for each `deletePlayer`, with who asked for it and whom it was about. */
export function logDeletions(log: FastifyBaseLogger, { deletions, caller }: OperationRecord, requestId: string): void {
  for (const { playerUniqueId, outcome } of deletions) {
    const audit = 'deletePlayer';
    log.info({
      audit,
      requestId,
      caller: caller && pseudonym(caller.name),
      player: pseudonym(playerUniqueId),
      outcome,
    });
  }
}

/** How many REST calls of a slow operation are logged. */
const MAX_CALLS = 100;

function describeCall({ method, template, status, ms, queueMs, error }: OperationRecord['calls'][number]) {
  return { call: `${method} ${template}`, status, ms: rounded(ms), queueMs: rounded(queueMs), error };
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** A player may be known by an e-mail address or a telephone number; the log then names it by a hash, always the same. */
const PERSONAL = /@|^\+\d/;

function pseudonym(name: string): string {
  return PERSONAL.test(name) ? `sha256:${createHash('sha256').update(name).digest('hex').slice(0, 16)}` : name;
}

/**
 * Logs errors that a client must not see, with the request id that the client gets. Failures of the REST service are logged
 * without a stack, with the code and the message of its refusal, from which the request's values are cut. Its response body can contain personal data and keys, so it is logged as its structure only, at debug.
 */
export function reportTo(log: FastifyBaseLogger): ReportError {
  return (error, requestId) => {
    const cause = unwrapResolverError(error);
    if (!(cause instanceof UpstreamError)) {
      log.error({ err: cause, requestId }, 'field failed');
      return;
    }
    const { code, status, message, refusal, excerpt } = cause;
    // Clients often disconnect, and the operation's own line shows it.
    const level = code === 'CANCELLED' ? 'debug' : 'warn';
    log[level]({ requestId, code, upstreamStatus: status, reason: message, refusal }, 'upstream call failed');
    if (excerpt) log.debug({ requestId, form: formOf(excerpt) }, 'upstream answer');
  };
}

/** The structure of a JSON text: the names of members, short numbers, and `…` in place of texts. */
function formOf(json: string): string {
  if (!/^\s*[{[]/.test(json)) return '[no JSON]';
  return json
    .replace(/"(?:[^"\\]|\\.)*(?:"|$)(\s*:)?/g, (text, colon = '') =>
      colon && !text.includes('@') ? text : `"…"${colon}`,
    )
    .replace(/\d{7,}/g, '…');
}
