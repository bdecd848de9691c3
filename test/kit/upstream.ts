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
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createService } from './upstream-data.ts';

export const API_KEY = 'api-key-for-tests';
export const SECRET_KEY = 'secret-key-for-tests';

export type EndpointName =
  | 'GET /player'
  | 'POST /player'
  | 'DELETE /player'
  | 'GET /coupon'
  | 'GET /referrals'
  | 'POST /event';

/** A request as it arrived. */
export interface Received {
  endpoint: EndpointName | undefined;
  method: string;
  /** As it was sent, below `/api/v3.0` and without the query. */
  path: string;
  /** The id in the path, decoded. */
  playerUniqueId: string | undefined;
  query: Record<string, string>;
  /** By lower-case name. */
  headers: IncomingMessage['headers'];
  /** Names as they were written, and values, in turn. */
  rawHeaders: string[];
  /** The body's JSON; undefined without a body. */
  body: unknown;
  /** Resolves when the caller hung up before it had its answer. */
  gone: Promise<void>;
}

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

export interface Held {
  /** Resolves when the request has arrived. */
  arrived: Promise<Received>;
  release(): void;
}

export interface Upstream {
  /** For `REST_BASE_URL`. */
  url: string;
  requests: Received[];
  /** `METHOD path?query` of every request, in the order of arrival. */
  calls(): string[];
  /** Forgets the requests so far. */
  forget(): void;
  /** What an endpoint answers from now on: each script once, the last one for good. */
  on(endpoint: EndpointName, ...scripts: [Script, ...Script[]]): void;
  /** Holds the next request of an endpoint back; the ones after it are answered as before. */
  hold(endpoint: EndpointName, script?: Script): Held;
  /** Resolves when this many requests have arrived. */
  received(count: number): Promise<void>;
  /** Stops listening and cuts every connection; `restart` listens on the same port again. */
  stop(): Promise<void>;
  restart(): Promise<void>;
  /** How many connections were opened. */
  connections(): number;
  close(): Promise<void>;
}

export interface UpstreamOptions {
  /** How many friends each player referred. Default 60. */
  friends?: number;
  /** The keys that are accepted. */
  apiKey?: string;
  secretKey?: string;
}

const PREFIX = '/api/v3.0';
const ROUTES: [EndpointName, string, RegExp][] = [
  ['GET /player', 'GET', /^\/integrations\/player\/([^/]*)$/],
  ['DELETE /player', 'DELETE', /^\/integrations\/player\/([^/]*)$/],
  ['POST /player', 'POST', /^\/integrations\/player$/],
  ['GET /coupon', 'GET', /^\/integrations\/transactions\/([^/]*)\/coupon$/],
  ['GET /referrals', 'GET', /^\/integrations\/players\/([^/]*)\/referrals$/],
  ['POST /event', 'POST', /^\/integrations\/event$/],
];

export async function startUpstream(options: UpstreamOptions = {}): Promise<Upstream> {
  const service = createService({ friends: 60, apiKey: API_KEY, secretKey: SECRET_KEY, ...options });
  const requests: Received[] = [];
  const scripts = new Map<EndpointName, Script[]>();
  const waiting = new Set<() => void>();
  let connections = 0;

  const server = createServer(async (incoming, response) => {
    const request = await receive(incoming, response);
    requests.push(request);
    for (const check of waiting) check();
    const script = request.endpoint ? next(request.endpoint) : 'usual';
    const answer = typeof script === 'function' ? await script(request) : script;
    await send(answer === 'usual' ? service.answer(request) : { ...answer }, response);
  });
  server.on('connection', () => {
    connections += 1;
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  await listen(0);
  const { port } = server.address() as AddressInfo;

  function next(endpoint: EndpointName): Script {
    const queue = scripts.get(endpoint) ?? ['usual'];
    return (queue.length > 1 ? queue.shift() : queue[0]) ?? 'usual';
  }

  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    calls: () =>
      requests.map(({ method, path, query }) => {
        const search = Object.entries(query).map(([name, value]) => `${name}=${value}`);
        return `${method} ${path}${search.length > 0 ? `?${search.join('&')}` : ''}`;
      }),
    forget: () => requests.splice(0),
    on: (endpoint, ...list) => scripts.set(endpoint, list),
    hold(endpoint, script = 'usual') {
      let release = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      let arrive = (_request: Received) => {};
      const arrived = new Promise<Received>((resolve) => {
        arrive = resolve;
      });
      const held: Script = async (request) => {
        const answer = typeof script === 'function' ? await script(request) : script;
        const prepared = answer === 'usual' ? service.answer(request) : answer;
        arrive(request);
        await released;
        return prepared;
      };
      scripts.set(endpoint, [held, ...(scripts.get(endpoint) ?? ['usual'])]);
      return { arrived, release };
    },
    received: (count) =>
      new Promise((resolve) => {
        const check = () => {
          if (requests.length < count) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    stop,
    restart: () => listen(port),
    connections: () => connections,
    close: stop,
  };
}

async function receive(incoming: IncomingMessage, response: ServerResponse): Promise<Received> {
  const chunks: Buffer[] = [];
  const gone = new Promise<void>((resolve) => {
    response.on('close', () => {
      if (!response.writableFinished) resolve();
    });
  });
  for await (const chunk of incoming) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const [target = '', search = ''] = (incoming.url ?? '').split('?');
  const path = target.startsWith(PREFIX) ? target.slice(PREFIX.length) : target;
  const [endpoint, , pattern] =
    ROUTES.find(([, method, route]) => method === incoming.method && route.test(path)) ?? [];
  const segment = pattern?.exec(path)?.[1];
  return {
    endpoint: target.startsWith(PREFIX) ? endpoint : undefined,
    method: incoming.method ?? '',
    path,
    playerUniqueId: segment === undefined ? undefined : decodeURIComponent(segment),
    query: Object.fromEntries(new URLSearchParams(search)),
    headers: incoming.headers,
    rawHeaders: incoming.rawHeaders,
    body: text === '' ? undefined : JSON.parse(text),
    gone,
  };
}

async function send(
  { status = 200, headers, json, raw, after, fault }: Answer,
  response: ServerResponse,
): Promise<void> {
  await after;
  if (fault === 'hang') return;
  if (fault === 'reset') {
    response.socket?.resetAndDestroy();
    return;
  }
  const body = Buffer.from(raw ?? (json === undefined ? '' : JSON.stringify(json)));
  if (fault === 'twice') {
    const head = (length: number) =>
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
    response.socket?.write(`${head(body.length)}${body}${head(2)}{}`);
    return;
  }
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
  if (fault === undefined) {
    response.end(body);
  } else if (fault === 'drip' || fault === 'flood') {
    pour(response, fault === 'drip' ? ' ' : ' '.repeat(65_536));
  } else {
    response.write(body.subarray(0, Math.ceil(body.length / 2)), () => {
      if (fault === 'cut') response.socket?.destroy();
    });
  }
}

/** Writes without end, as fast as it is taken (a single byte at a time waits a little), until the other side hangs up. */
function pour(response: ServerResponse, text: string): void {
  if (response.destroyed) return;
  response.write(text, () => setTimeout(() => pour(response, text), text.length === 1 ? 5 : 0));
}
