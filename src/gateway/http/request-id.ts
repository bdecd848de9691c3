import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** What an id from outside must look like to be taken over: safe in logs, headers and file names. */
const WELL_FORMED = /^[\w.:-]{8,128}$/;

/** The id a request is known by, from its `x-request-id` when that is well-formed. */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && WELL_FORMED.test(given) ? given : randomUUID();
}
