import type { FastifyServerOptions } from 'fastify';

/**
 * For a Fastify application whose routes have no JSON schemas. Fastify loads the compilers for these when it is made,
 * needed or not, which takes 30 ms of a start.
 */
export const withoutSchemas: NonNullable<FastifyServerOptions['schemaController']> = {
  compilersFactory: { buildValidator: refuse, buildSerializer: refuse },
};

function refuse(): never {
  throw new Error('A route has a JSON schema, and its application was made without compilers for them.');
}
