/* Fastify and mercurius, which compiles operations, and nothing else. Every request is served. */
import Fastify from 'fastify';
import mercurius from 'mercurius';
import { createLoaders, port, resolvers, typeDefs } from './schema.mjs';

const app = Fastify();
app.register(mercurius, { schema: typeDefs, resolvers, jit: 1, context: () => ({ loaders: createLoaders() }) });
await app.listen({ port, host: '127.0.0.1' });
