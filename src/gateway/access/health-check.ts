import type { FastifyRequest } from 'fastify';

/** `{ __typename }` and nothing else, white space apart. */
const TYPENAME_ALONE = /^\s*(?:query\s*)?\{\s*__typename\s*\}\s*$/;

/**
 * Whether a request asks for nothing but `{ __typename }`, as balancers do to see that GraphQL answers. Anything beside the
 * operation (a name, variables, a persisted query) makes it another request.
 */
export function asksForTypenameAlone({ method, body, query }: FastifyRequest): boolean {
  const asked = method === 'GET' ? query : body;
  if (typeof asked !== 'object' || asked === null || Object.keys(asked).length !== 1) return false;
  const operation: unknown = Reflect.get(asked, 'query');
  return typeof operation === 'string' && TYPENAME_ALONE.test(operation);
}
