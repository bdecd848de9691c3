import { createHash } from 'node:crypto';
import { unwrapResolverError } from '@apollo/server/errors';
import type { FastifyBaseLogger } from 'fastify';
import { UpstreamError } from '../../rest/errors.ts';
import type { ReportError } from '../graphql/response.ts';
import type { OperationRecord } from './operation-record.ts';

/** Longer names of operations are cut, in characters. */
const MAX_NAME_LENGTH = 100;

/** Writes one log line for an operation: at debug when it was refused for overload, else at info. */
export function logOperation(
  log: FastifyBaseLogger,
  { name, type, caller, calls, codes }: OperationRecord,
  { requestId, status, bytes, ms }: { requestId: string; status: number; bytes: number; ms: number },
): void {
  const line = {
    requestId,
    operation: name?.slice(0, MAX_NAME_LENGTH),
    type,
    caller: caller && pseudonym(caller.name),
    ms: Math.round(ms * 10) / 10,
    upstreamCalls: calls.length,
    bytes,
    status,
    outcome: codes.length > 0 ? codes : 'OK',
  };
  if (codes[0] === 'OVERLOADED') log.debug(line, 'operation');
  else log.info(line, 'operation');
}

/** Player ids that are an e-mail address or a telephone number. The log has a hash of these, always the same. */
const PERSONAL = /@|^\+\d/;

function pseudonym(name: string): string {
  return PERSONAL.test(name) ? `sha256:${createHash('sha256').update(name).digest('hex').slice(0, 16)}` : name;
}

/**
 * Logs errors that a client must not see, with the request id that the client gets. Failures of the REST service are logged
 * without a stack. Its response body can contain personal data and keys, so it is logged as its structure only, at debug.
 */
export function reportTo(log: FastifyBaseLogger): ReportError {
  return (error, requestId) => {
    const cause = unwrapResolverError(error);
    if (!(cause instanceof UpstreamError)) {
      log.error({ err: cause, requestId }, 'field failed');
      return;
    }
    const { code, status, message, excerpt } = cause;
    // Clients often disconnect, and the operation's own line shows it.
    const level = code === 'CANCELLED' ? 'debug' : 'warn';
    log[level]({ requestId, code, upstreamStatus: status, reason: message }, 'upstream call failed');
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
