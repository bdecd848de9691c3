/* Mercurius in production, with a REST client that promises nothing when the REST service fails. */
import { serveInProduction } from './production.mjs';
import { createLoaders } from './schema.mjs';

await serveInProduction(createLoaders);
