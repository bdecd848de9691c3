/*
 * Most requests repeat one of an application's few operations with other variables. For these, Apollo Server's pipeline
 * would repeat work whose result is known: parse and validate the document, select the operation, negotiate the content
 * type. The fast path executes the operation directly.
 *
 * It is used only for an operation that is known and compiled, requested by POST with a JSON body, from a client that
 * accepts JSON, without a persisted query to register. An HTML form of another website cannot send this content type. A
 * script can, but the browser sends a CORS preflight first. Authentication, charges, limits and the coercion of variables
 * happen before and are the same for both paths. The last step of the response is the same function. So both paths give
 * equal responses.
 */
import type { Context } from './context.ts';
import type { KnownOperation } from './operations.ts';
import type { GraphQLRequest } from './request.ts';
import { type CompleteOptions, completeResponse, formatResult, type ReportError } from './response.ts';

/** Values of `accept` for which the response is `application/json`. */
const PLAIN_JSON: ReadonlySet<string | undefined> = new Set([undefined, '*/*', 'application/json']);

export interface FastPathOptions extends CompleteOptions {
  report: ReportError;
}

/** Whether the fast path may answer a request. */
export function isFast(request: GraphQLRequest, { execute }: KnownOperation): boolean {
  const { method, accept, wellFormed, registers } = request;
  return execute !== undefined && method === 'POST' && wellFormed && !registers && PLAIN_JSON.has(accept);
}

/** The body of the response, or undefined when nothing was executed and Apollo Server must answer. */
export async function executeFast(
  { execute }: KnownOperation,
  variables: Readonly<Record<string, unknown>> | undefined,
  context: Context,
  options: FastPathOptions,
): Promise<string | undefined> {
  const result = await execute?.({}, context, variables);
  if (result?.data === undefined) return undefined;
  const response = formatResult(result, context, options.report);
  completeResponse(response, context, options);
  const { errors, data, extensions } = response;
  return `${JSON.stringify({ errors, data, extensions })}\n`;
}
