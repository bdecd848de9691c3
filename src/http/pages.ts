/* What developers open in a browser. Served outside production only. */
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { type AuthConfig, tokenHint } from '../config/auth.ts';
import { printSdl } from '../graphql/schema.ts';

/** A file of `schema/operations/`: its name without the ending, and the variables, if any are needed, as JSON. */
export interface Example {
  name: string;
  document: string;
  variables: string | undefined;
}

/** The text of a file below assets/. */
type Asset = (name: string) => string;

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

/** Serves the start page at `/` and the pages that it links, the schema as SDL and GraphiQL. Returns what sends the Sandbox, for `/graphql`. */
export function servePages(app: FastifyInstance, schema: GraphQLSchema, schemaDirectory: URL, auth: AuthConfig) {
  const examples = readExamples(schemaDirectory);
  const hint = tokenHint(auth)?.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const asset: Asset = (name) => readFileSync(new URL(`../assets/${name}`, schemaDirectory), 'utf8');
  const start = startPage(asset, hint ?? OPEN);
  const policy = `${START_POLICY}; script-src 'sha256-${hash('sha256', start.script, 'base64')}'`;
  app.get('/', (_request, reply) => send(reply, 'Referral gateway', policy, start.html));
  app.get('/schema.graphql', (_request, reply) => reply.type(TEXT).send(printSdl(schema)));
  // The project names no address of its repository: its pages are sent from here. The image has none.
  for (const [, path = ''] of start.html.matchAll(/href="(\/[\w/]+\.md)"/g)) {
    const file = new URL(`..${path}`, schemaDirectory);
    if (existsSync(file)) app.get(path, (_request, reply) => reply.type(TEXT).send(readFileSync(file)));
  }
  const createGraphiql = () => graphiqlScript(asset, examples, hint !== undefined);
  app.get('/graphiql', async (_request, reply) => {
    // Browsers keep the script: its address contains its hash.
    const script = `/graphiql/script.js?${hash('sha256', await createGraphiql()).slice(0, 16)}`;
    const notice = hint === undefined ? '' : `<p id="notice" role="alert" hidden>${NOTICE} ${hint}</p>`;
    const body = fill(asset('pages/graphiql.html'), { notice, script });
    return send(reply, 'Referral gateway · IDE', GRAPHIQL_POLICY, body);
  });
  app.get('/graphiql/script.js', async (_request, reply) => {
    void reply.type('text/javascript; charset=utf-8').header('cache-control', 'public, max-age=31536000, immutable');
    return await createGraphiql();
  });
  return (reply: FastifyReply) =>
    send(reply, 'Apollo Sandbox', SANDBOX_POLICY, sandboxPage(asset, examples, start.html));
}

function send(reply: FastifyReply, title: string, policy: string, body: string): FastifyReply {
  void reply.type('text/html; charset=utf-8').header('content-security-policy', policy);
  return reply.send(`<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title>${body}`);
}

const TEXT = 'text/plain; charset=utf-8';

const OPEN = 'This gateway is open: no token is needed, and every request is made as the player "demo-player".';

const START_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const NOTICE =
  'This gateway needs a token. Write it after "Bearer" in the Headers pane of any tab, then press "Re-fetch GraphQL schema".';

/** The editor runs its language services in blob workers, and adds inline styles. */
const GRAPHIQL_POLICY =
  "default-src 'none'; script-src 'self'; worker-src blob:; style-src 'unsafe-inline'; font-src data:; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The script of a GraphiQL that works offline, 9 MB. `needsToken`: whether the gateway has a token setting. */
async function graphiqlScript(asset: Asset, examples: readonly Example[], needsToken: boolean): Promise<string> {
  const graphiql = await import('@graphql-yoga/render-graphiql/graphiql');
  const { css, js, editorWorkerService, jsonWorker: json, graphqlWorker: graphql } = graphiql;
  const tabs = examples.map(({ document, variables = null }) => ({ query: document, variables }));
  const workers = { editorWorkerService, json, graphql };
  const given = JSON.stringify({ css: css + asset('ide/panel.css'), workers, tabs, needsToken });
  const [panel, before, after] = ['panel', 'before', 'after'].map((name) => asset(`ide/${name}.js`));
  return [`const given = ${given};`, panel, before, `${js};`, after].join('\n');
}

const SANDBOX = 'https://embeddable-sandbox.cdn.apollographql.com';
/** The Sandbox is a frame; its script sends the operations. */
const SANDBOX_POLICY = `script-src 'unsafe-inline' ${SANDBOX}; style-src 'unsafe-inline'; img-src data:; frame-src https://sandbox.embed.apollographql.com; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/**
 * The Apollo Sandbox with the first example. Its script is loaded from the internet; operations and responses are exchanged
 * only between the browser and this gateway. It requests the schema once, not every second as by default.
 * @param start What is shown until the script has arrived, and without the internet.
 */
function sandboxPage(asset: Asset, [first]: readonly Example[], start: string): string {
  const initialState = { document: first?.document, includeCookies: false, pollForSchemaUpdates: false };
  const given = { target: '#sandbox', initialState, endpointIsEditable: false, runTelemetry: false };
  const options = JSON.stringify(given).replaceAll('<', '\\u003c');
  return fill(asset('pages/sandbox.html'), { options, origin: SANDBOX, start });
}

/** The first screen. It loads nothing. `state`: whether a token is needed, as HTML. `{ide PLAYER}` is the first query of a player. */
function startPage(asset: Asset, state: string): { html: string; script: string } {
  const [page, script] = [asset('pages/start.html'), asset('pages/start.js')];
  const [, query = ''] = /<pre id="query">([^<]*)/.exec(page) ?? [];
  const ideOf = (player: string) => `/graphiql?query=${encodeURIComponent(query.replace('demo-player', player))}`;
  const body = page.replace(/\{ide ([\w-]+)\}/g, (_, player: string) => ideOf(player));
  const head = `<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">`;
  const style = `<style>${asset('pages/start.css')}</style>`;
  return { html: `${head}${style}${fill(body, { state })}<script type="module">${script}</script>`, script };
}

/** Replaces each `{name}` of a page by its value. */
function fill(page: string, values: Record<string, string>): string {
  return Object.entries(values).reduce((html, [name, value]) => html.replaceAll(`{${name}}`, () => value), page);
}
