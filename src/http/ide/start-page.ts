import type { FastifyInstance } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { printSdl } from '../../graphql/schema.ts';
import { GRAPHQL_PATH } from '../graphql-route.ts';
import { GRAPHIQL_PATH } from './graphiql.ts';

/** Where the schema is, as a text for clients' tools. */
const SDL_PATH = '/schema.graphql';

/** What a developer can open, by path. */
const PLACES = [
  [
    GRAPHQL_PATH,
    'GraphQL, by POST; by GET with a token or the header `apollo-require-preflight: true`; in a browser the Apollo Sandbox',
  ],
  [GRAPHIQL_PATH, 'GraphiQL with the example operations; works offline'],
  [SDL_PATH, 'the schema for tools'],
] as const;

/** Serves the schema as SDL. */
export function serveSdl(app: FastifyInstance, schema: GraphQLSchema): void {
  app.get(SDL_PATH, async (_request, reply) => reply.type('text/plain; charset=utf-8').send(printSdl(schema)));
}

/**
 * Serves at `/` a list of the paths for developers: as a page to browsers, as text to others.
 * @param hint How to get a token; undefined for an open gateway.
 */
export function serveStartPage(app: FastifyInstance, hint: string | undefined): void {
  const lines = PLACES.map(([path, what]) => `${path.padEnd(18)}${what}`);
  const text = ['Referral gateway', '', ...lines, '', ...(hint === undefined ? [] : [hint, ''])].join('\n');
  const rows = PLACES.map(([path, what]) => `<dt><a href="${path}">${path}</a></dt><dd>${toHtml(what)}</dd>`);
  const page = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Referral gateway</title>
<style>body { font: 16px/1.6 sans-serif; margin: 3em auto; max-width: 42em; padding: 0 1em } code { white-space: nowrap }</style>
<h1>Referral gateway</h1>
<dl>${rows.join('\n')}</dl>
${hint === undefined ? '' : `<p>${toHtml(hint)}</p>`}
</html>
`;
  app.get('/', async ({ headers }, reply) => {
    if (!headers.accept?.includes('text/html')) return reply.type('text/plain; charset=utf-8').send(text);
    return reply.type('text/html; charset=utf-8').header('content-security-policy', POLICY).send(page);
  });
}

const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** A text as HTML; what is between backticks is code. */
function toHtml(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return escaped.replace(/`([^`]*)`/g, '<code>$1</code>');
}
