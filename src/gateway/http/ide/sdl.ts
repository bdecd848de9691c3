import type { FastifyInstance } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { printSdl } from '../../graphql/sdl.ts';

/** Where the schema is, as a text for clients' tools. */
export const SDL_PATH = '/schema.graphql';

/** Serves the schema as SDL. */
export function serveSdl(app: FastifyInstance, schema: GraphQLSchema): void {
  app.get(SDL_PATH, async (_request, reply) => reply.type('text/plain; charset=utf-8').send(printSdl(schema)));
}
