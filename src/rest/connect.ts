import { LRUCache } from 'lru-cache';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import type { Config } from '../config/config.ts';
import { secureContext } from '../config/tls.ts';
import { proxyFor, tunnelConnector } from '../egress-proxy.ts';
import { createLookup } from './lookup.ts';
import { isTlsRefusal } from './upstream-error.ts';

/** How long an address that could not be reached is tried after the others, in milliseconds. */
const AVOID_MS = 60_000;
/** The largest head of a response, in bytes. */
const MAX_RESPONSE_HEAD_BYTES = 65_536;

/** After how many responses of another host in a row the Pool is replaced, and how long it is kept at least, in ms. */
const REPLACE_AFTER = 3;
const MIN_AGE_MS = 2_500;

export type Connections = ReturnType<typeof createConnections>;

/**
 * The connections of one endpoint, in a Pool. It is replaced at an age, so that connections follow the name of the service, and
 * earlier when their address seems to be one that the name has left. Requests in flight finish on their own connections.
 */
export function createConnections(openPool: () => Pool, maxAgeMs: number) {
  let pool = openPool();
  let openedAt = performance.now();
  /** Pools that were replaced, until their requests are over. */
  const replaced = new Set<Pool>();
  /** How many responses of another host came in a row. */
  let fromOtherHost = 0;

  function replace(): void {
    const old = pool;
    pool = openPool();
    openedAt = performance.now();
    fromOtherHost = 0;
    replaced.add(old);
    void old.close().finally(() => replaced.delete(old));
  }

  return {
    dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
      if (performance.now() - openedAt >= maxAgeMs) replace();
      pool.dispatch(request, handler);
    },
    /** @param isFromOther The result of `mayBeOtherHost`. */
    responded(isFromOther: boolean): void {
      fromOtherHost = isFromOther ? fromOtherHost + 1 : 0;
      if (fromOtherHost >= REPLACE_AFTER && performance.now() - openedAt >= MIN_AGE_MS) replace();
    },
    isOpen: () => [pool, ...replaced].some(({ stats }) => stats.connected > 0),
    async destroy(): Promise<void> {
      // It is not replaced any more.
      openedAt = Number.POSITIVE_INFINITY;
      await Promise.all([pool, ...replaced].map((one) => one.destroy()));
    },
  };
}

/**
 * Whether a response may be of a server that is not the service, or no longer: a balancer without healthy servers (5xx), a
 * redirect, another host (421), or the text of a proxy that has no route.
 */
export function mayBeOtherHost(status: number, contentType: unknown): boolean {
  return status >= 500 || status === 421 || (status >= 300 && (status < 400 || /^text\//i.test(String(contentType))));
}

/** `timeoutMs`: how long a connection may take to open. */
type ConnectOptions = Pick<Config['rest'], 'timeoutMs' | 'tls' | 'proxy'>;
type PoolOptions = ConnectOptions & Pick<Config['rest'], 'connections' | 'idleMs'>;

/** Returns what opens connections to one origin: through the proxy if one leads there. */
export function createConnector(origin: string, options: ConnectOptions): buildConnector.connector {
  const { timeoutMs } = options;
  const uri = proxyFor(new URL(origin), options.proxy);
  const tls = secureContext(options.tls ?? {});
  const avoided = new LRUCache<string, true>({ max: 100, ttl: AVOID_MS });
  const opening = { timeout: timeoutMs, lookup: createLookup(avoided) };
  const open = buildConnector(uri === undefined ? { ...tls, ...opening } : opening);
  // Node says which addresses it tried, in their order: all but the last could not be reached in time. Nor is the last one of use
  // when no connection was opened: TLS failed there.
  const avoiding: buildConnector.connector = (to, done) => {
    // Its type says that nothing is returned.
    const socket: unknown = open(to, (...result) => {
      const { autoSelectFamilyAttemptedAddresses: tried = [] } = Object(socket);
      for (const address of tried.slice(0, result[0] ? undefined : -1)) avoided.set(address.replace(/:\d+$/, ''), true);
      done(...result);
    });
  };
  if (uri === undefined) return avoiding;
  return tunnelConnector(uri, timeoutMs, avoiding, buildConnector({ ...tls, timeout: timeoutMs }));
}

/**
 * Returns what opens a Pool of connections to one origin. They are opened when they are needed, and closed by the gateway when
 * they are idle. Each request needs a timeout of its own: undici's body timeout starts again with each byte.
 */
export function createPoolOpener(origin: string, options: PoolOptions): () => Pool {
  const { connections, idleMs } = options;
  const connect = withoutContinue(createConnector(origin, options));
  const poolOptions: Pool.Options = {
    connect,
    connections,
    // One request at a time, so that a response cannot be assigned to another request.
    pipelining: 1,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: MAX_RESPONSE_HEAD_BYTES,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
  };
  return () => keepingClients(new Pool(origin, poolOptions));
}

/**
 * Connects so that undici reads `100 Continue` as 102. HTTP allows an interim response at any time (RFC 9110, 15.2), and some
 * servers send this one before they work. undici ignores the others, and fails a request for this one.
 */
function withoutContinue(connect: buildConnector.connector): buildConnector.connector {
  return (to, done) =>
    connect(to, (...result) => {
      const [, socket] = result;
      const read = socket?.read.bind(socket);
      if (socket && read) socket.read = (size) => replaceContinue(read(size));
      // With TLS 1.3 the refusal of a certificate comes after the handshake. undici would report a closed connection instead.
      socket?.prependOnceListener('error', (error) => isTlsRefusal(error) && socket.destroy(error));
      done(...result);
    });
}

/**
 * Changes the status of each interim response at the beginning of a chunk; several can follow each other. One that is split
 * between chunks is not found. A chunk in the middle of a body that begins with these 12 characters would be changed too.
 */
function replaceContinue(chunk: Buffer | null): Buffer | null {
  for (let at = 0; chunk?.toString('latin1', at, at + 10) === 'HTTP/1.1 1'; ) {
    if (chunk.toString('latin1', at + 10, at + 12) === '00') chunk.write('2', at + 11);
    const end = chunk.indexOf('\r\n\r\n', at);
    at = end < 0 ? chunk.length : end + 4;
  }
  return chunk;
}

/**
 * Keeps a client that cannot connect in the Pool. By default undici removes it, but it still takes requests from the Pool's queue:
 * beside its replacement, there would be more connections than allowed, which are not counted and not closed. A client that got the
 * certificate of another host stays busy, so that one is removed.
 */
function keepingClients(pool: Pool): Pool {
  const [remove] = pool.listeners('connectionError');
  pool.removeAllListeners('connectionError');
  return pool.on('connectionError', (origin, clients, error) => {
    if (!('code' in error) || error.code !== 'ERR_TLS_CERT_ALTNAME_INVALID') return;
    remove?.(origin, clients, error);
    // undici still counts its request, so the Pool could never be closed.
    for (const client of clients) if (client !== pool) void client.destroy(error);
  });
}
