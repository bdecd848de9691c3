import { type LookupAddress, lookup } from 'node:dns';
import { isIP, isIPv6, type LookupFunction, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, buildConnector, fetch as fetchWith, Pool } from 'undici';
import packageJson from '../package.json' with { type: 'json' };
import type { EgressProxy } from './config/config.ts';
import { reveal } from './config/secret.ts';

/** Some firewalls and proxies refuse requests that do not say what sends them. */
export const USER_AGENT = `referral-gateway/${packageJson.version}`;

/** The URL of the proxy that leads to an address, with its password; undefined for loopback and for what `NO_PROXY` has. */
export function proxyFor(url: URL, proxy: EgressProxy | undefined): string | undefined {
  const via = url.protocol === 'https:' ? proxy?.https : proxy?.http;
  return via && !isExempt(url, proxy?.except ?? '') ? reveal(via) : undefined;
}

/** A name stands for itself and what is below it; an address may be a range, and each may have a port, as in other programs. */
function isExempt({ protocol, hostname, port }: URL, except: string): boolean {
  const host = hostname.replace(/^\[|\]$|\.$/g, '');
  const ownPort = port || (protocol === 'https:' ? '443' : '80');
  const entries = `localhost,127.0.0.0/8,::1,${except}`.toLowerCase().split(/[\s,;|]+/);
  return entries.filter(Boolean).some((entry) => {
    const [, given = entry, wantedPort = ownPort] = /^(\[.+\]|[^:]+):(\d+)$/.exec(entry) ?? [];
    const name = given.replace(/^\[|\]$|^\*?\.|\.$/g, '');
    const isMeant = ipaddr.isValid(host) ? isInRange(host, name) : host === name || host.endsWith(`.${name}`);
    return wantedPort === ownPort && (name === '*' || isMeant);
  });
}

function isInRange(host: string, range: string): boolean {
  const cidr = ipaddr.isValid(range) ? `${range}/${range.includes(':') ? 128 : 32}` : range;
  if (!ipaddr.isValidCIDR(cidr)) return false;
  const [address, [first, bits]] = [ipaddr.parse(host), ipaddr.parseCIDR(cidr)];
  return first.kind() === address.kind() && address.match(first, bits);
}

/**
 * Returns what connects through a proxy, by CONNECT. Not undici's `ProxyAgent`: its Pools are those of an `Agent`, which forgets
 * some of them while they have requests, and when it is closed, no tunnel is opened for the requests that it still has. It also
 * leaves out a user without a password, such as an access key.
 * @param timeoutMs For a proxy that does not answer CONNECT.
 * @param connect Opens connections to the proxy.
 * @param openTls Opens TLS inside the tunnel.
 */
export function tunnelConnector(
  uri: string,
  timeoutMs: number,
  connect: buildConnector.connector,
  openTls: buildConnector.connector,
): buildConnector.connector {
  const { username, password, hostname } = new URL(uri);
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const headers = {
    'user-agent': USER_AGENT,
    'proxy-connection': 'keep-alive',
    ...(username && { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` }),
  };
  // An address is not sent as a server name, which TLS does not allow and Node 26 throws for.
  const servername = isIP(hostname.replace(/^\[|\]$/g, '')) ? '' : hostname;
  const toProxy: buildConnector.connector = (to, done) => connect({ ...to, servername }, done);
  const proxy = new Pool(new URL(uri).origin, { connect: toProxy, headersTimeout: timeoutMs });
  const open = async (to: buildConnector.Options) => {
    const name = isIPv6(to.hostname) ? `[${to.hostname}]` : to.hostname;
    const path = `${name}:${to.port || (to.protocol === 'https:' ? 443 : 80)}`;
    const { socket, statusCode } = await proxy.connect({ path, headers: { ...headers, host: `${to.host}` } });
    // undici's type is wider: what it returns is the socket of its connection to the proxy.
    if (statusCode === 200 && socket.readableLength === 0) return socket as Socket;
    socket.on('error', () => undefined).destroy();
    throw new Error(`Proxy response (${statusCode === 200 ? '200 with a text of its own' : statusCode})`);
  };
  return (to, done) => {
    open(to).then(
      (socket) => {
        if (to.protocol === 'https:') openTls({ ...to, httpSocket: socket }, done);
        else done(null, socket);
      },
      (cause: NodeJS.ErrnoException) => done(errorOfProxy(cause), null),
    );
  };
}

/**
 * An error of the proxy itself, in words that tell it from one of the service. For some codes undici would also connect again at
 * once, without end, thousands of times a second.
 */
function errorOfProxy(cause: NodeJS.ErrnoException): Error {
  if (cause.name === 'HTTPParserError') return new Error('Proxy response (no HTTP)', { cause });
  // The proxy closed the connection instead of answering.
  if (/SOCKET|HEADERS/.test(`${cause.code}`)) return new Error('Proxy response (nothing)', { cause });
  // All codes of TLS but two have an underscore. So do those of undici (UND_) and of look-ups (EAI_).
  const isOfTls = /^(?!UND_|EAI_)\w+_|^EPROTO|^UNSPECIFIED/.test(`${cause.code}`);
  return isOfTls ? new Error(`Proxy response (with the TLS error ${cause.code})`, { cause }) : cause;
}

/**
 * Looks a name up as Node does. When the name server fails (EAI_AGAIN), it asks again for IPv4 addresses alone: some name servers
 * fail for IPv6 addresses, and glibc then fails for both.
 */
export const lookUp: LookupFunction = (hostname, options, callback) =>
  lookup(hostname, options, (error, found: string | LookupAddress[], family?: number) => {
    if (error?.code !== 'EAI_AGAIN' || options.family) callback(error, found, family);
    else lookup(hostname, { ...options, family: 4 }, callback);
  });

/** How long a proxy may take to answer CONNECT for `fetch`, in milliseconds. */
const PROXY_MS = 10_000;

/** `fetch` for one address, through the proxy if one leads there. Node's own would choose a proxy itself with NODE_USE_ENV_PROXY=1. */
export function fetchFor(url: URL, proxy: EgressProxy | undefined): typeof fetch {
  const uri = proxyFor(url, proxy);
  const open = buildConnector({ lookup: lookUp });
  const dispatcher = new Agent({ connect: uri === undefined ? open : tunnelConnector(uri, PROXY_MS, open, open) });
  // Its types are undici's, and Node has those of another version.
  const fetchThrough = fetchWith as unknown as (input: unknown, init: unknown) => Promise<Response>;
  return (input, init) => fetchThrough(input, { ...init, dispatcher });
}
