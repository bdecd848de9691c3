import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { post } from '../kit/gateway.ts';
import { startProcess } from '../kit/process.ts';
import { startUpstream, type Upstream } from '../kit/upstream.ts';

/* Each test starts a program, which takes its time on a busy machine. */
jest.setTimeout(60_000);

interface Span {
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Record<string, unknown> }[];
  status: { code?: number };
}

/** A collector that takes OTLP over HTTP as JSON. */
async function startCollector() {
  const bodies: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    headers.push(request.headers);
    bodies.push(`${request.method} ${request.url} ${Buffer.concat(chunks)}`);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    headers,
    // biome-ignore lint/suspicious/noExplicitAny: OTLP's JSON is deeper than this test.
    resources: (): any[] => bodies.flatMap((text) => JSON.parse(text.slice(text.indexOf('{'))).resourceSpans),
    spans(): Span[] {
      return this.resources().flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }: { spans: Span[] }) => spans));
    },
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Tells on stderr, as the program ends, how many modules of OpenTelemetry's implementation stand in the files it had loaded. */
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
afterEach(() => Promise.all([upstream.close(), collector.close()]));

async function run(env: Record<string, string>, use: (url: string) => Promise<unknown>): Promise<string> {
  const gateway = await startProcess({ REST_BASE_URL: upstream.url, ...env }, COUNT_MODULES);
  try {
    await use(gateway.url);
    gateway.child.kill('SIGTERM');
    expect((await gateway.ended).code).toBe(0);
    return gateway.output();
  } finally {
    await gateway.kill();
  }
}

const SCREEN = { query: 'query Screen { player(playerUniqueId: "p1") { referralLink coupons { code } } }' };
const attribute = ({ attributes }: Span, name: string) => attributes.find(({ key }) => key === name)?.value;

test('an operation and each of its REST calls become spans of the client’s trace', async () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  upstream.on('GET /coupon', { status: 404, json: {} });
  const output = await run({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_SERVICE_NAME: 'edge' }, (url) =>
    post(url, SCREEN, { traceparent: `00-${traceId}-b7ad6b7169203331-01`, tracestate: 'congo=t61rcWkgMzE,rojo=1' }),
  );
  expect(output).toMatch(/opentelemetry modules: [1-9]/);
  expect(collector.bodies[0]).toMatch(/^POST \/v1\/traces /);
  expect(collector.resources()[0].resource.attributes).toContainEqual({
    key: 'service.name',
    value: { stringValue: 'edge' },
  });

  const spans = collector.spans();
  expect(spans.map(({ name }) => name).sort()).toEqual([
    'GET /integrations/player/{playerUniqueId}',
    'GET /integrations/transactions/{playerUniqueId}/coupon',
    'query Screen',
  ]);
  for (const span of spans) expect(span.traceId).toBe(traceId);
  const book = readFileSync(new URL('../../docs/observability.md', import.meta.url), 'utf8');
  const attributes = new Set(spans.flatMap((span) => span.attributes.map(({ key }) => key)));
  expect([...attributes].filter((key) => !book.includes(`\`${key}\``))).toEqual([]);
  const [operation] = spans.filter(({ name }) => name === 'query Screen');
  expect(operation?.parentSpanId).toBe('b7ad6b7169203331');
  const calls = spans.filter((span) => span !== operation);
  for (const call of calls) {
    expect(call.parentSpanId).toBe(operation?.spanId);
    expect(BigInt(call.endTimeUnixNano) >= BigInt(call.startTimeUnixNano)).toBe(true);
  }
  expect(calls.map((call) => Number(attribute(call, 'http.response.status_code')?.['intValue'])).sort()).toEqual([
    200, 404,
  ]);
  // The spans of the REST service are children of the call that reached it.
  expect(upstream.requests).toHaveLength(2);
  for (const { path, headers } of upstream.requests) {
    const call = calls.find(({ name }) => name.includes('coupon') === path.includes('coupon'));
    expect(headers['traceparent']).toBe(`00-${traceId}-${call?.spanId}-01`);
    expect(headers['tracestate']).toBe('congo=t61rcWkgMzE,rojo=1');
  }
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
  const statuses = callsOf('p1').map((span) => attribute(span, 'http.response.status_code')?.['intValue']);
  expect(statuses).toEqual([undefined, 503, 200]);
  for (const { headers, playerUniqueId = '' } of upstream.requests.slice(3)) {
    const calls = callsOf(playerUniqueId).map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`);
    expect(calls).toEqual([headers['traceparent']]);
  }
  expect(upstream.requests).toHaveLength(6);
});

test('events with an idempotency key are not cancelled when the client disconnects, and are in the trace', async () => {
  const held = upstream.hold('POST /event');
  const input = { playerUniqueId: 'p1', idempotencyKey: 'key-1', events: [{ name: 'share' }] };
  const track = {
    query: 'mutation Track($input: TrackEventsInput!) { trackEvents(input: $input) { eventNames } }',
    variables: { input },
  };
  await run({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, async (url) => {
    const client = new AbortController();
    const first = fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(track),
      signal: client.signal,
    });
    await held.arrived;
    client.abort();
    await expect(first).rejects.toThrow();
    // The gateway has read the end of the connection before this response.
    await post(url, { query: '{ __typename }' });
    held.release();
    let { errors, data } = await post(url, track);
    // While the first is being sent, a repeat is told to try again.
    for (let i = 0; i < 500 && errors[0]?.extensions['retryable']; i += 1) ({ errors, data } = await post(url, track));
    expect({ errors, data }).toEqual({ errors: [], data: { trackEvents: { eventNames: ['share'] } } });
  });
  expect(upstream.calls()).toHaveLength(1);
  expect(collector.spans().map(({ name }) => name)).toContain('POST /integrations/event');
});

test('a failed operation is marked as an error, by its code', async () => {
  upstream.on('GET /player', { status: 400, json: {} });
  await run({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, (url) => post(url, SCREEN));
  const operation = collector.spans().find(({ name }) => name === 'query Screen');
  expect(operation?.status.code).toBe(2);
  expect(operation && attribute(operation, 'error.type')).toEqual({ stringValue: 'UPSTREAM_REJECTED' });
});

test('a client that does not want its trace recorded is heard', async () => {
  await run({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, (url) =>
    post(url, SCREEN, { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00' }),
  );
  expect(collector.spans()).toEqual([]);
  expect(upstream.requests[0]?.headers['traceparent']).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[\da-f]{16}-00$/);
});

test('the SDK’s own variables apply: sampler, resource attributes, headers', async () => {
  const exporter = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=shop%201' };
  const OTEL_RESOURCE_ATTRIBUTES = 'deployment.environment.name=test,service.name=by-attribute';
  await run({ ...exporter, OTEL_RESOURCE_ATTRIBUTES }, (url) => post(url, SCREEN));
  expect(collector.headers[0]?.['x-tenant']).toBe('shop 1');
  expect(collector.resources()[0].resource.attributes).toEqual(
    expect.arrayContaining([
      { key: 'deployment.environment.name', value: { stringValue: 'test' } },
      { key: 'service.name', value: { stringValue: 'by-attribute' } },
    ]),
  );

  const sent = collector.bodies.length;
  await run({ ...exporter, OTEL_TRACES_SAMPLER: 'always_off' }, (url) => post(url, SCREEN));
  expect(collector.bodies).toHaveLength(sent);
});

test('tracestate is passed on without a collector, and dropped without a valid traceparent', async () => {
  const tracestate = 'congo=t61rcWkgMzE';
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  await run({}, async (url) => {
    await post(url, { query: '{ player(playerUniqueId: "p1") { referralLink } }' }, { traceparent, tracestate });
    await post(url, { query: '{ player(playerUniqueId: "p2") { referralLink } }' }, { traceparent: 'x', tracestate });
  });
  expect(upstream.requests[0]?.headers).toMatchObject({ traceparent, tracestate });
  expect(upstream.requests[1]?.headers['tracestate']).toBeUndefined();
});

test('without OTEL_EXPORTER_OTLP_ENDPOINT nothing of OpenTelemetry is loaded but the interface prom-client refers to', async () => {
  const output = await run({}, (url) => post(url, SCREEN));
  expect(output).toMatch(/opentelemetry modules: 0 in [1-9]/);
  expect(collector.bodies).toEqual([]);
});

test('a collector that is not there delays neither answers nor the end', async () => {
  await collector.close();
  const output = await run({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, SHUTDOWN_GRACE_MS: '500' }, async (url) => {
    expect((await post(url, SCREEN)).status).toBe(200);
  });
  expect(output).toContain('"msg":"stopped"');
});
