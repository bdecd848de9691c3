/*
 * Most requests ask for one of an application's few operations, again and again with other variables. For these, Apollo
 * Server's pipeline finds out each time what it found out before: that the document parses, that it is valid, which
 * operation is meant, which kind of answer the client takes. The short way goes straight to what differs from request to
 * request: who asks, the variables, the execution.
 *
 * It is right because it is narrow. It is taken only for a POST whose JSON body holds a text that has been through the whole
 * pipeline before, letter for letter and with the same operation name, and was compiled since; with no persisted query to
 * look up or register; by a client that takes plain JSON. Such a body cannot come from a form of a foreign website either:
 * it had to be announced as JSON, which browsers ask permission for. Authentication, rates, admission and limits are the same
 * functions as on the long way, and the last touch to the answer too.
 *
 * Whatever turns out to be unusual (a caller who is not let in, an operation over a limit, variables that do not fit) takes
 * the long way after all, with what is known of the caller; until then nothing has been executed. So there is one place
 * that words refusals, and a client cannot tell which way its answer came, but by the clock.
 */
import type { HTTPGraphQLRequest } from '@apollo/server';
import type { FastifyRequest } from 'fastify';
import type { Maybe } from '../../rest/maybe.ts';
import type { Context } from './context.ts';
import { ClientError } from './errors.ts';
import type { Pipeline } from './pipeline.ts';

/** What an answer says it is; also Apollo Server's words. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** What a client may say it takes that plain JSON is an answer to. */
const PLAIN_JSON: ReadonlySet<string | undefined> = new Set([undefined, '*/*', 'application/json']);

/** The answer's body by the short way, or undefined for a request that must go the long one. */
export async function answerShortly(
  { prepared, run }: Pipeline,
  request: FastifyRequest,
  asked: HTTPGraphQLRequest,
  contextOf: () => Maybe<Context>,
): Promise<string | undefined> {
  if (asked.method !== 'POST' || !PLAIN_JSON.has(request.headers.accept)) return undefined;
  try {
    // First of all, since it gives an operation that is asked for by an id its text.
    const context = await contextOf();
    const { query, operationName, variables } = readOperation(asked.body) ?? {};
    const known = query === undefined ? undefined : prepared.get(query, operationName);
    const answer = known && (await run(known, variables, context));
    return answer && `${JSON.stringify({ errors: answer.errors, data: answer.data, extensions: answer.extensions })}\n`;
  } catch (error) {
    if (error instanceof ClientError) return undefined;
    throw error;
  }
}

interface Operation {
  query: string;
  operationName: string | undefined;
  variables: Record<string, unknown> | undefined;
}

/** What a body asks for, when it is plain: no persisted query to be looked up or registered, every member of its type. */
function readOperation(body: unknown): Operation | undefined {
  if (!isObject(body)) return undefined;
  const { query, operationName, variables, extensions } = body;
  if (typeof query !== 'string' || !(operationName == null || typeof operationName === 'string')) return undefined;
  if (!(variables == null || isObject(variables)) || !(extensions == null || isPlain(extensions))) return undefined;
  return { query, operationName: operationName ?? undefined, variables: variables ?? undefined };
}

function isPlain(extensions: unknown): boolean {
  return isObject(extensions) && !('persistedQuery' in extensions);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
