import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeEach, expect, test } from '@jest/globals';
import { atEnd } from '../kit/at-end.ts';
import { post } from '../kit/post.ts';
import { startProcess } from '../kit/process.ts';
import { until } from '../kit/until.ts';
import { startUpstream, type Upstream } from '../kit/upstream.ts';

interface Span {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes: { key: string; value: Record<string, unknown> }[];
  status: { code?: number };
}

/** A collector that accepts OTLP over HTTP as JSON. */
async function startCollector() {
  const bodies: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer(async (request, response) => {
    headers.push(request.headers);
    bodies.push(`${request.method} ${request.url} ${await text(request)}`);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => server.close().closeAllConnections();
  atEnd(close);
  // biome-ignore lint/suspicious/noExplicitAny: OTLP's JSON is deeper than this test.
  const resources = (): any[] => bodies.flatMap((body) => JSON.parse(body.slice(body.indexOf('{'))).resourceSpans);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    headers,
    resources,
    spans: (): Span[] =>
      resources().flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }: { spans: Span[] }) => spans)),
    close,
  };
}

/** Prints, as the program ends, how many modules of OpenTelemetry's implementation are in the files it had loaded. */
const COUNT_MODULES = [
  '--import',
  `data:text/javascript,${encodeURIComponent(`import { readFileSync } from 'node:fs';
    import { Session } from 'node:inspector';
    const session = new Session();
    session.connect();
    const loaded = [];
    session.on('Debugger.scriptParsed', ({ params: { url } }) => url.includes('/dist/') && loaded.push(new URL(url)));
    session.post('Debugger.enable');
    process.on('exit', () => {
      const modules = loaded.flatMap((url) => readFileSync(url, 'utf8').match(/^\\s*(?:\\/\\/ |")node_modules\\/@opentelemetry\\/(?:sdk|exporter|resources)/gm) ?? []);
      console.error('opentelemetry modules: ' + modules.length + ' in ' + loaded.length + ' files');
    });`)}`,
];

let upstream: Upstream;
let collector: Awaited<ReturnType<typeof startCollector>>;
beforeEach(async () => {
  [upstream, collector] = await Promise.all([startUpstream(), startCollector()]);
});

async function run(env: Record<string, string>, use: (url: string) => Promise<unknown>): Promise<string> {
  const gateway = await startProcess({ REST_BASE_URL: upstream.url, ...env }, COUNT_MODULES);
  await use(gateway.url);
  gateway.child.kill('SIGTERM');
  expect((await gateway.ended).code).toBe(0);
  return gateway.output();
}

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SCREEN = { query: 'query Screen { player(playerUniqueId: "p1") { referralLink coupons { code } } }' };
const sendTraced = (env: Record<string, string> = {}, headers: Record<string, string> = {}) =>
  run({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env }, (url) => post(url, SCREEN, headers));
const attribute = ({ attributes }: Span, name: string) => attributes.find(({ key }) => key === name)?.value;
const statusOf = (span: Span) => attribute(span, 'http.response.status_code')?.['intValue'];

test('an operation and each of its REST calls become spans of the client’s trace', async () => {
  upstream.on('GET /coupon', { status: 404, json: {} });
  const tracestate = 'congo=t61rcWkgMzE,rojo=1';
  const output = await sendTraced({}, { traceparent: `00-${TRACE}-b7ad6b7169203331-01`, tracestate });
  expect(output).toMatch(/opentelemetry modules: [1-9]/);
  expect(collector.bodies[0]).toMatch(/^POST \/v1\/traces /);
  const spans = collector.spans();
  for (const span of spans) expect(span.traceId).toBe(TRACE);
  const [operation] = spans.filter(({ name }) => name === 'query Screen');
  expect(operation?.parentSpanId).toBe('b7ad6b7169203331');
  const calls = spans.filter(({ parentSpanId }) => parentSpanId === operation?.spanId);
  expect(calls.map((call) => [call.name, Number(statusOf(call))]).sort()).toEqual([
    ['GET /integrations/player/{playerUniqueId}', 200],
    ['GET /integrations/transactions/{playerUniqueId}/coupon', 404],
  ]);
  expect(spans).toHaveLength(3);
  // The spans of the REST service are children of the call that reached it.
  expect(upstream.requests).toHaveLength(2);
  for (const { path, headers } of upstream.requests) {
    const call = calls.find(({ name }) => name.includes('coupon') === path.includes('coupon'));
    expect(headers).toMatchObject({ traceparent: `00-${TRACE}-${call?.spanId}-01`, tracestate });
  }
  const book = readFileSync(new URL('../../docs/observability.md', import.meta.url), 'utf8');
  const attributes = new Set(spans.flatMap((span) => span.attributes.map(({ key }) => key)));
  expect([...attributes].filter((key) => !book.includes(`\`${key}\``))).toEqual([]);
  expect(collector.bodies.join('')).not.toMatch(/-key-for-tests|"p1"|\/p1/);
});

test('each attempt has a span, which ends; a call that waited for a connection belongs to its own operation', async () => {
  upstream.on('GET /player', { fault: 'reset' }, { status: 503, json: {} }, 'usual');
  const read = (url: string, id: string) =>
    post(url, { query: `query Read_${id} { player(playerUniqueId: "${id}") { referralLink } }` });
  await run({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, REST_CONNECTIONS: '1' }, async (url) => {
    expect((await read(url, 'p1')).errors).toEqual([]);
    const held = upstream.hold('GET /player');
    const first = read(url, 'p2');
    await held.arrived;
    const others = ['p3', 'p4'].map((id) => read(url, id));
    held.release();
    await Promise.all([first, ...others]);
  });
  const spans = collector.spans();
  const callsOf = (id: string) => {
    const operation = spans.find(({ name }) => name === `query Read_${id}`);
    return spans.filter(({ parentSpanId }) => parentSpanId === operation?.spanId);
  };
  expect(callsOf('p1').map(statusOf)).toEqual([undefined, 503, 200]);
  for (const { headers, playerUniqueId = '' } of upstream.requests.slice(3)) {
    const calls = callsOf(playerUniqueId).map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`);
    expect(calls).toEqual([headers['traceparent']]);
  }
  expect(upstream.requests).toHaveLength(6);
});

test('events with an idempotency key are not cancelled when the client disconnects, and are in the trace', async () => {
  const held = upstream.hold('POST /event');
  const input = { playerUniqueId: 'p1', idempotencyKey: 'key-1', events: [{ name: 'share' }] };
  const query = 'mutation Track($input: TrackEventsInput!) { trackEvents(input: $input) { eventNames } }';
  const track = { query, variables: { input } };
  await run({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, async (url) => {
    const client = new AbortController();
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, signal: client.signal };
    const first = fetch(`${url}/graphql`, { ...init, body: JSON.stringify(track) });
    await held.arrived;
    client.abort();
    await expect(first).rejects.toThrow();
    // The gateway has read the end of the connection before this response.
    await post(url, { query: '{ __typename }' });
    held.release();
    // While the first is being sent, a repeat is told to try again.
    await until(async () => (await post(url, track)).errors.length === 0);
  });
  expect(upstream.calls()).toHaveLength(1);
  expect(collector.spans().map(({ name }) => name)).toContain('POST /integrations/event');
});

test('a failed operation is marked as an error, by its code', async () => {
  upstream.on('GET /player', { status: 400, json: {} });
  await sendTraced();
  const [operation] = collector.spans().filter(({ name }) => name === 'query Screen');
  expect(operation?.status.code).toBe(2);
  expect(operation && attribute(operation, 'error.type')).toEqual({ stringValue: 'UPSTREAM_REJECTED' });
});

test('a trace that its client does not record is not recorded, but passed on', async () => {
  await sendTraced({}, { traceparent: `00-${TRACE}-b7ad6b7169203331-00` });
  expect(collector.spans()).toEqual([]);
  expect(upstream.requests[0]?.headers['traceparent']).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[\da-f]{16}-00$/);
});

test('the SDK’s own variables apply, without the white space around them: sampler, resource attributes, headers', async () => {
  const OTEL_RESOURCE_ATTRIBUTES = 'deployment.environment.name=test,service.name=other';
  await sendTraced({
    ...{ OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/\n`, OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=shop%201' },
    ...{ OTEL_SERVICE_NAME: 'edge\r\n', OTEL_RESOURCE_ATTRIBUTES },
  });
  expect(collector.bodies[0]).toMatch(/^POST \/v1\/traces /);
  expect(collector.headers[0]?.['x-tenant']).toBe('shop 1');
  const attributes = Object.entries({ 'deployment.environment.name': 'test', 'service.name': 'edge' });
  expect(collector.resources()[0].resource.attributes).toEqual(
    expect.arrayContaining(attributes.map(([key, stringValue]) => ({ key, value: { stringValue } }))),
  );
  const sent = collector.bodies.length;
  await sendTraced({ OTEL_TRACES_SAMPLER: 'always_off\n' });
  expect(collector.bodies).toHaveLength(sent);
});

test('the address of traces alone is enough; OTEL_SDK_DISABLED and OTEL_TRACES_EXPORTER=none send nothing', async () => {
  const OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = `${collector.url}/in/v1/traces`;
  await run({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT }, (url) => post(url, SCREEN));
  expect(collector.bodies[0]).toMatch(/^POST \/in\/v1\/traces /);
  const sent = collector.bodies.length;
  await sendTraced({ OTEL_SDK_DISABLED: 'true' });
  await sendTraced({ OTEL_TRACES_EXPORTER: 'none' });
  expect(collector.bodies).toHaveLength(sent);
});

test('spans reach the collector through the proxy that HTTP_PROXY names', async () => {
  const seen: string[] = [];
  const proxy = createServer().on('connect', ({ url, headers }, socket) => {
    seen.push(`${url} ${headers['user-agent']?.split('/')[0]}`);
    const target = connect(Number(new URL(collector.url).port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
    });
    target.pipe(socket).pipe(target);
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  atEnd(() => proxy.close().closeAllConnections());
  const HTTP_PROXY = `http://127.0.0.1:${Object(proxy.address()).port}`;
  await sendTraced({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.invalid:4318', HTTP_PROXY });
  expect(seen).toEqual(['collector.invalid:4318 referral-gateway']);
  expect(collector.spans()).toHaveLength(3);
});

test('without OTEL_EXPORTER_OTLP_ENDPOINT nothing of OpenTelemetry is loaded but the interface prom-client refers to', async () => {
  const output = await run({}, (url) => post(url, SCREEN));
  expect(output).toMatch(/opentelemetry modules: 0 in [1-9]/);
  expect(collector.bodies).toEqual([]);
});

test('a collector that is not there, or answers 404, delays neither responses nor the end', async () => {
  collector.close();
  for (const endpoint of [collector.url, upstream.url]) {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, SHUTDOWN_GRACE_MS: '5000' };
    const output = await run(env, async (url) => expect((await post(url, SCREEN)).status).toBe(200));
    expect(output).toMatch(/"cut":false,.*"msg":"stopped"/);
    expect(output).not.toContain('"level":50');
    // One that is not there is asked again until the end.
    expect(output.includes('traces cannot be exported')).toBe(endpoint === upstream.url);
  }
});

test('beside an agent that traces, a REST call has its traceparent alone, and the gateway itself exports nothing', async () => {
  const ofAgent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const agent = `import { subscribe } from 'node:diagnostics_channel';
    subscribe('undici:request:create', ({ request }) => request.addHeader('traceparent', '${ofAgent}'));`;
  const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(agent)}`;
  const client = { traceparent: `00-${TRACE}-b7ad6b7169203331-01`, tracestate: 'vendor=1' };
  expect(await sendTraced({ NODE_OPTIONS }, client)).toContain('an agent traces the REST calls');
  expect(await sendTraced({ NODE_OPTIONS, OTEL_EXPORTER_OTLP_ENDPOINT: '' }, client)).toContain(`"traceId":"${TRACE}"`);
  expect(collector.bodies).toEqual([]);
  const sent = upstream.requests.map(({ headers }) => [headers['traceparent'], headers['tracestate']]);
  expect(sent).toEqual(Array(4).fill([ofAgent, undefined]));
});

test('starts and responds with the loader of an agent, which copies the exports of each file when it is loaded', async () => {
  const hooks = `import { readFileSync } from 'node:fs';
    export async function load(url, context, next) {
      if (!/\\/dist\\/[^/]+\\.js$/.test(url)) return next(url, context);
      const list = /^export \\{([^}]*)\\};$/m.exec(readFileSync(new URL(url), 'utf8'))?.[1] ?? '';
      const names = list.split(',').flatMap((one) => one.trim().split(' as ').at(-1) || []);
      const copies = names.map((name, n) => 'const c' + n + ' = inner[' + JSON.stringify(name) + ']; export { c' + n + ' as ' + name + ' };');
      return { format: 'module', shortCircuit: true, source: 'import * as inner from "' + url + '?inner";' + copies.join('') };
    }`;
  const inUrl = (text: string) => `data:text/javascript,${encodeURIComponent(text)}`;
  const loader = `import { register } from 'node:module'; register(${JSON.stringify(inUrl(hooks))});`;
  const gateway = await startProcess({ REST_BASE_URL: upstream.url, NODE_OPTIONS: `--import ${inUrl(loader)}` });
  const query = 'query ($id: ID!) { player(playerUniqueId: $id) { id } }';
  expect((await post(gateway.url, { query, variables: { id: 'p1' } })).data).toEqual({ player: { id: 'p1' } });
});
