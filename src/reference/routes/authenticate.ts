import type { FastifyRequest, RouteShorthandOptions } from 'fastify';
import { unauthenticated } from '../errors.ts';
import type { Key } from '../keys.ts';
import type { Service } from '../service.ts';

/** A hook for all routes: nothing is looked at, not even the path, before the API key was shown. */
export function needsApiKey({ keys }: Service) {
  return async (request: FastifyRequest): Promise<void> => show(request, 'APIKey', keys.apiKey);
}

/** The options of a route that needs the secret key as well. Other routes do not mind when it is sent. */
export function needsSecretKey({ keys }: Service): RouteShorthandOptions {
  return { onRequest: async (request: FastifyRequest) => show(request, 'secretKey', keys.secretKey) };
}

/** Node has put all header names into lower case, whichever of the many spellings a client used. */
function show(request: FastifyRequest, header: 'APIKey' | 'secretKey', key: Key): void {
  const given = request.headers[header.toLowerCase()];
  if (!key.matches(Array.isArray(given) ? given.join() : given)) throw unauthenticated(header);
}
