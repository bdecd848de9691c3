/*
 * Most requests repeat one of an application's few operations with other variables. For these, Apollo Server's pipeline
 * would find out each time what is known: that the document parses and is valid, which operation is meant, which content
 * type the client takes. The fast path goes straight to the execution.
 *
 * It is correct because it is narrow. It is taken only for an operation that is known and compiled, requested by POST with
 * a JSON body, from a client that takes plain JSON, without a persisted query to register. Such a body cannot come from a
 * form of a foreign website: it was announced as JSON, for which browsers ask permission first. Authentication, charges,
 * limits and the coercion of variables happen before, the same for both paths, and the last step of the response is the same
 * function. So a client cannot tell which path its response took.
 */
import type { Context } from './context.ts';
import type { KnownOperation } from './operations.ts';
import type { GraphQLRequest } from './request.ts';
import { type CompleteOptions, completeResponse, formatResult, type ReportError } from './response.ts';

/** Values of `accept` that plain JSON satisfies. */
const PLAIN_JSON: ReadonlySet<string | undefined> = new Set([undefined, '*/*', 'application/json']);

export interface FastPathOptions extends CompleteOptions {
  report: ReportError;
}

/** Whether the fast path may answer a request. */
export function isFast(request: GraphQLRequest, { execute }: KnownOperation): boolean {
  const { method, accept, wellFormed, registers } = request;
  return execute !== undefined && method === 'POST' && wellFormed && !registers && PLAIN_JSON.has(accept);
}

/** The body of the response, or undefined when nothing was executed and Apollo Server has to answer. */
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
