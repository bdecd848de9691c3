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
  const documents = files.flatMap((file) => (file.endsWith('.graphql') ? file.slice(0, -'.graphql'.length) : []));
  return documents.map((name) => {
    const variables = files.includes(`${name}.json`) ? read(`${name}.json`) : undefined;
    return { name, document: read(`${name}.graphql`), variables };
  });
}

/** Sends a page for browsers. */
export type Page = (reply: FastifyReply) => FastifyReply;

export function pageOf(html: string, policy: string): Page {
  return (reply) => reply.type('text/html; charset=utf-8').header('content-security-policy', policy).send(html);
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
${hint && `<p>${hint}`}</html>
`;
  const page = pageOf(html, "default-src 'none'");
  app.get('/', (_request, reply) => page(reply));
}

const SANDBOX = 'https://embeddable-sandbox.cdn.apollographql.com';
/** The Sandbox is a frame; its script sends the operations. */
const SANDBOX_POLICY = `script-src 'unsafe-inline' ${SANDBOX}; style-src 'unsafe-inline'; img-src 'none'; frame-src https://sandbox.embed.apollographql.com; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/**
 * The page with the Apollo Sandbox and the first example. Its script is loaded from the internet; operations and responses are
 * exchanged only between the browser and this gateway. It requests the schema once, not every second as by default: reload
 * the page after a change of the schema. The Sandbox covers the link to GraphiQL, which is seen until it has loaded.
 */
export function sandboxPage([first]: readonly Example[]): Page {
  const initialState = { document: first?.document, includeCookies: false, pollForSchemaUpdates: false };
  const options = { target: '#sandbox', initialState, endpointIsEditable: false, runTelemetry: false };
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Apollo Sandbox</title>
<style>
  body { font: 16px/1.6 sans-serif; margin: 3em }
  #sandbox iframe { position: absolute; inset: 0; width: 100%; height: 100%; border: 0; background: white }
</style>
<div id="sandbox"></div>
<p>The Apollo Sandbox needs the internet. <a href="/graphiql">GraphiQL</a> works offline.</p>
<script src="${SANDBOX}/v2/embeddable-sandbox.umd.production.min.js"></script>
<script>
  if (window.EmbeddedSandbox)
    new EmbeddedSandbox({ ...${JSON.stringify(options).replaceAll('<', '\\u003c')}, initialEndpoint: location.href });
</script></html>
`;
  return pageOf(html, SANDBOX_POLICY);
}
