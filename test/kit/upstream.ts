/*
 * A stand-in for the REST service that a test can script: a real HTTP server on a port of its own, which records every
 * request and answers the six operations with realistic data until told otherwise.
 *
 *   const upstream = await startUpstream();
 *   upstream.on('GET /player', { status: 500 });                 // from now on
 *   upstream.on('GET /player', { status: 500 }, 'usual');        // once, then as usual
 *   const held = upstream.hold('GET /coupon');                   // arrives, waits for held.release()
 *   expect(upstream.calls()).toEqual(['GET /integrations/player/p1']);
 */
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atEnd } from './at-end.ts';
import { createService } from './upstream-data.ts';

export const API_KEY = 'api-key-for-tests';
export const SECRET_KEY = 'secret-key-for-tests';
/** The settings of a gateway under test. On a busy machine a call may take longer than the default of three seconds. */
export const SETTINGS = {
  ...{ PORT: '0', REST_API_KEY: API_KEY, REST_SECRET_KEY: SECRET_KEY },
  ...{ REST_TIMEOUT_MS: '30000', OPERATION_TIMEOUT_MS: '30000' },
};

const ROUTES = [
  ['GET /player', /^GET \/integrations\/player\/([^/]*)$/],
  ['DELETE /player', /^DELETE \/integrations\/player\/([^/]*)$/],
  ['POST /player', /^POST \/integrations\/player$/],
  ['GET /coupon', /^GET \/integrations\/transactions\/([^/]*)\/coupon$/],
  ['GET /referrals', /^GET \/integrations\/players\/([^/]*)\/referrals$/],
  ['POST /event', /^POST \/integrations\/event$/],
] as const;

export type EndpointName = (typeof ROUTES)[number][0];
export type Received = Awaited<ReturnType<typeof receive>>;
export type Upstream = Awaited<ReturnType<typeof startUpstream>>;

export interface Answer {
  /** Default 200. */
  status?: number;
  headers?: Record<string, string | string[]>;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is; `content-type` stays `application/json` unless `headers` says otherwise. */
  raw?: string | Uint8Array;
  /** Nothing is sent before this resolves. */
  after?: Promise<unknown>;
  /**
   * `hang`: never answers; `reset`: cuts the connection; `cut`: cuts it in the middle of the body; `stall`: sends the head
   * and half the body, then nothing; `drip`: sends the head, then one byte of white space after another without end;
   * `flood`: sends the head, then as much white space as is taken, without end; `twice`: answers, then answers again though
   * nobody asked.
   */
  fault?: 'hang' | 'reset' | 'cut' | 'stall' | 'drip' | 'flood' | 'twice';
}

/** An answer, what makes one from a request, or the usual data. */
type Scripted = Answer | 'usual';
export type Script = Scripted | ((request: Received) => Scripted | Promise<Scripted>);

/** `friends`: how many each player referred. Default 60. */
export type UpstreamOptions = { friends?: number };

export async function startUpstream({ friends = 60 }: UpstreamOptions = {}) {
  const service = createService(friends, API_KEY, SECRET_KEY);
  const requests: Received[] = [];
  const scripts = new Map<EndpointName, Script[]>();
  const arrivals = new EventEmitter();
  let connections = 0;

  const server = createServer(async (incoming, response) => {
    const request = await receive(incoming, response);
    requests.push(request);
    arrivals.emit('request');
    const queue = (request.endpoint && scripts.get(request.endpoint)) ?? [];
    const script = (queue.length > 1 ? queue.shift() : queue[0]) ?? 'usual';
    await send(await answerOf(script, request), response);
  });
  server.on('connection', () => {
    connections += 1;
  });
  const listen = async (port: number) => void (await once(server.listen(port, '127.0.0.1'), 'listening'));
  const stop = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  await listen(0);
  atEnd(stop);
  const { port } = server.address() as AddressInfo;

  async function answerOf(script: Script, request: Received): Promise<Answer> {
    const answer = typeof script === 'function' ? await script(request) : script;
    return answer === 'usual' ? service.answer(request) : answer;
  }

  return {
    /** For `REST_BASE_URL`. */
    url: `http://127.0.0.1:${port}`,
    requests,
    /** `METHOD path?query` of every request, in the order of arrival. */
    calls: () => requests.map(({ method, path, search }) => `${method} ${path}${search}`),
    forget: () => void requests.splice(0),
    reset() {
      requests.splice(0);
      scripts.clear();
    },
    /** What an endpoint answers from now on: each script once, the last one for good. */
    on: (endpoint: EndpointName, ...list: [Script, ...Script[]]) => void scripts.set(endpoint, list),
    /** Holds the next request of an endpoint back; the ones after it are answered as before. */
    hold(endpoint: EndpointName, script: Script = 'usual') {
      const gate = new EventEmitter();
      const [arrived, released] = [once(gate, 'arrival'), once(gate, 'release')];
      const held: Script = async (request) => {
        const prepared = await answerOf(script, request);
        gate.emit('arrival');
        await released;
        return prepared;
      };
      scripts.set(endpoint, [held, ...(scripts.get(endpoint) ?? ['usual'])]);
      return { arrived, release: () => void gate.emit('release') };
    },
    /** Resolves when this many requests have arrived. */
    async received(count: number) {
      while (requests.length < count) await once(arrivals, 'request');
    },
    /** Stops listening and cuts every connection; `restart` listens on the same port again. */
    stop,
    restart: () => listen(port),
    connections: () => connections,
  };
}

async function receive(incoming: IncomingMessage, response: ServerResponse) {
  const { method = '', url = '', headers, rawHeaders } = incoming;
  const gone = new Promise<void>((resolve) => {
    response.on('close', () => response.writableFinished || resolve());
  });
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const [, prefix, path = '', search = ''] = /^(\/api\/v3\.0)?([^?]*)(.*)$/.exec(url) ?? [];
  const [endpoint, route] = ROUTES.find(([, pattern]) => prefix && pattern.test(`${method} ${path}`)) ?? [];
  const segment = route?.exec(`${method} ${path}`)?.[1];
  return {
    endpoint,
    method,
    /** As it was sent, below `/api/v3.0` and without the query. */
    path,
    /** The query with its question mark, as it was sent. */
    search,
    query: Object.fromEntries(new URLSearchParams(search)),
    /** The id in the path, decoded. */
    playerUniqueId: segment === undefined ? undefined : decodeURIComponent(segment),
    /** By lower-case name. */
    headers,
    /** Names as they were written, and values, in turn. */
    rawHeaders,
    /** The body's JSON; undefined without a body. */
    body: text === '' ? undefined : (JSON.parse(text) as unknown),
    /** Resolves when the caller hung up before it had its answer. */
    gone,
  };
}

async function send(answer: Answer, response: ServerResponse): Promise<void> {
  const { status = 200, headers, json, raw, after, fault } = answer;
  await after;
  if (fault === 'hang') return;
  if (fault === 'reset') return void response.socket?.resetAndDestroy();
  const body = Buffer.from(raw ?? (json === undefined ? '' : JSON.stringify(json)));
  if (fault === 'twice') {
    const head = (length: number) =>
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
    return void response.socket?.write(`${head(body.length)}${body}${head(2)}{}`);
  }
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
  if (fault === undefined) {
    response.end(body);
  } else if (fault === 'drip' || fault === 'flood') {
    pour(response, fault === 'drip' ? ' ' : ' '.repeat(65_536));
  } else {
    response.write(body.subarray(0, Math.ceil(body.length / 2)), () => fault === 'cut' && response.socket?.destroy());
  }
}

/** Writes without end, as fast as it is taken (a single byte at a time waits a little), until the other side hangs up. */
function pour(response: ServerResponse, text: string): void {
  if (response.destroyed) return;
  response.write(text, () => setTimeout(() => pour(response, text), text.length === 1 ? 5 : 0));
}
