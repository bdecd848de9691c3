/* What developers open in a browser. Served outside production only. */
import { readdirSync, readFileSync } from 'node:fs';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { printSdl } from '../../graphql/schema.ts';

/** An example operation: a file of `schema/operations/`, and the JSON file of the same name. */
export interface Example {
  /** The file's name without its ending. */
  name: string;
  document: string;
  /** The variables of `document`, as JSON. Undefined when there is no such file: then every variable has a default. */
  variables: string | undefined;
}

/** The example operations in `operations/` of the schema directory, in the order of their file names. */
export function readExamples(schemaDirectory: URL): Example[] {
  const directory = new URL('operations/', schemaDirectory);
  const files = readdirSync(directory).sort();
  const read = (file: string) => readFileSync(new URL(file, directory), 'utf8').trimEnd();
  return files.flatMap((file) => {
    if (!file.endsWith('.graphql')) return [];
    const name = file.slice(0, -'.graphql'.length);
    return { name, document: read(file), variables: files.includes(`${name}.json`) ? read(`${name}.json`) : undefined };
  });
}

/** A page for browsers. */
export interface Page {
  html: string;
  /** Its Content-Security-Policy. */
  policy: string;
}

export function sendPage(reply: FastifyReply, { html, policy }: Page): FastifyReply {
  return reply.type('text/html; charset=utf-8').header('content-security-policy', policy).send(html);
}

/**
 * Serves the schema as SDL, and at `/` the list of the paths for developers.
 * @param hint How to get a token, as HTML; undefined for an open gateway.
 */
export function servePages(app: FastifyInstance, schema: GraphQLSchema, hint = ''): void {
  app.get('/schema.graphql', (_request, reply) => reply.type('text/plain; charset=utf-8').send(printSdl(schema)));
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Referral gateway</title>
<h1>Referral gateway</h1>
<p><a href="/graphql">/graphql</a> GraphQL by POST, or by GET with a token; in a browser the Apollo Sandbox
<p><a href="/graphiql">/graphiql</a> GraphiQL with the example operations; works offline
<p><a href="/schema.graphql">/schema.graphql</a> the schema for tools
<p>${hint}</html>
`;
  app.get('/', (_request, reply) => sendPage(reply, { html, policy: "default-src 'none'" }));
}
