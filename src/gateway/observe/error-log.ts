import { unwrapResolverError } from '@apollo/server/errors';
import type { FastifyBaseLogger } from 'fastify';
import { UpstreamError } from '../../rest/errors.ts';
import type { ReportError } from '../graphql/response.ts';

/**
 * Logs errors that a client must not see, with the request id that the client gets. Failures of the REST service are logged
 * without a stack, with the code and the message of its refusal, from which the request's values are cut. Its response body
 * can contain personal data and keys, so it is logged as its structure only, at debug.
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
