/* What developers open in a browser. Served outside production only. */
import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { type AuthConfig, tokenHint } from '../../config/auth.ts';
import { printSdl } from '../../graphql/schema.ts';
import { GRAPHQL_PATH } from '../error-responses.ts';
import { createScript } from './graphiql.ts';
import { startPage } from './start.ts';

/** A file of `schema/operations/`: its name without the ending, and the variables, if any are needed, as JSON. */
export interface Example {
  name: string;
  document: string;
  variables: string | undefined;
}

/** The example operations in `operations/` of the schema directory, in the order of their file names. */
export function readExamples(schemaDirectory: URL): Example[] {
  const directory = new URL('operations/', schemaDirectory);
  const files = readdirSync(directory).sort();
  const read = (file: string) => readFileSync(new URL(file, directory), 'utf8').trimEnd();
  return files.flatMap((file) => {
    const name = basename(file, '.graphql');
    const variables = files.includes(`${name}.json`) ? read(`${name}.json`) : undefined;
    return name === file ? [] : [{ name, document: read(file), variables }];
  });
}

/** Serves the start page at `/`, the schema as SDL and GraphiQL. Returns what sends the Sandbox, for `/graphql`. */
export function servePages(app: FastifyInstance, schema: GraphQLSchema, schemaDirectory: URL, auth: AuthConfig) {
  const examples = readExamples(schemaDirectory);
  const hint = tokenHint(auth)?.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const assets = new URL('../assets/', schemaDirectory);
  const start = startPage(assets, hint ?? OPEN);
  const policy = `${START_POLICY}; script-src 'sha256-${hash('sha256', start.script, 'base64')}'`;
  app.get('/', (_request, reply) => send(reply, 'Referral gateway', policy, start.html));
  app.get('/schema.graphql', (_request, reply) => reply.type('text/plain; charset=utf-8').send(printSdl(schema)));
  const asset = (name: string) => readFileSync(new URL(name, assets), 'utf8');
  const createGraphiql = () =>
    createScript(GRAPHQL_PATH, examples, hint !== undefined, {
      css: asset('ide/panel.css'),
      js: asset('ide/panel.js'),
    });
  app.get('/graphiql', async (_request, reply) => {
    // Browsers keep the script: its address contains its hash.
    const src = `/graphiql/script.js?${hash('sha256', await createGraphiql()).slice(0, 16)}`;
    const notice = hint === undefined ? '' : `<p id="notice" role="alert" hidden>${NOTICE} ${hint}</p>`;
    const body = `<link rel="icon" href="data:,">${notice}<main><div id="root"></div>${PANEL}</main><script src="${src}"></script>`;
    return send(reply, 'Referral gateway · IDE', GRAPHIQL_POLICY, body);
  });
  app.get('/graphiql/script.js', async (_request, reply) => {
    void reply.type('text/javascript; charset=utf-8').header('cache-control', 'public, max-age=31536000, immutable');
    return await createGraphiql();
  });
  return (reply: FastifyReply) => send(reply, 'Apollo Sandbox', SANDBOX_POLICY, sandbox(examples, start.html));
}

function send(reply: FastifyReply, title: string, policy: string, body: string): FastifyReply {
  void reply.type('text/html; charset=utf-8').header('content-security-policy', policy);
  return reply.send(`<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title>${body}`);
}

const OPEN = 'This gateway is open: no token is needed, and every request is made as the player "demo-player".';

const START_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PANEL =
  '<section id="upstream" tabindex="0" aria-labelledby="upstream-title"><h1 id="upstream-title">Upstream</h1><output>Execute an operation: its REST calls and its cost are shown here.</output></section>';

const NOTICE =
  'This gateway needs a token. Write it after "Bearer" in the Headers pane of any tab, then press "Re-fetch GraphQL schema".';
/** The editor runs its language services in blob workers, and adds inline styles. */
const GRAPHIQL_POLICY =
  "default-src 'none'; script-src 'self'; worker-src blob:; style-src 'unsafe-inline'; font-src data:; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const SANDBOX = 'https://embeddable-sandbox.cdn.apollographql.com';
/** The Sandbox is a frame; its script sends the operations. */
const SANDBOX_POLICY = `script-src 'unsafe-inline' ${SANDBOX}; style-src 'unsafe-inline'; img-src 'none'; frame-src https://sandbox.embed.apollographql.com; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/**
 * The Apollo Sandbox with the first example. Its script is loaded from the internet; operations and responses are exchanged
 * only between the browser and this gateway. It requests the schema once, not every second as by default.
 * @param start What is shown until the script has arrived, and without the internet.
 */
function sandbox([first]: readonly Example[], start: string): string {
  const initialState = { document: first?.document, includeCookies: false, pollForSchemaUpdates: false };
  const options = { target: '#sandbox', initialState, endpointIsEditable: false, runTelemetry: false };
  return `<style>
  .sandbox { display: flex; flex-direction: column; height: 100vh } #sandbox { flex: 1 }
  #sandbox iframe { width: 100%; height: 100%; border: 0 } #note { margin: 0; padding: 0 1em }
</style>
<p id="note">The Apollo Sandbox needs the internet. <a href="/graphiql">GraphiQL</a> works offline.</p>
<div id="start">${start}</div>
<div id="sandbox"></div>
<script src="${SANDBOX}/v2/embeddable-sandbox.umd.production.min.js"></script>
<script>
  if (window.EmbeddedSandbox) {
    document.querySelector('#start').remove();
    document.body.className = 'sandbox';
    new EmbeddedSandbox({ ...${JSON.stringify(options).replaceAll('<', '\\u003c')}, initialEndpoint: location.href });
  }
</script>
`;
}
