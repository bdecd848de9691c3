import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Agent, type buildConnector, type Dispatcher, fetch as fetchWith, Pool, ProxyAgent } from 'undici';
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
 * The connections to a proxy. When a proxy closes a connection instead of answering CONNECT, or its 200 has a page behind it,
 * undici takes that for a lost socket and connects again at once, thousands of times a second. Here it is the error of the one call.
 * An address is not sent as a server name, which TLS does not allow and Node 26 throws for.
 */
export function createProxyClient(proxy: URL, options: Pool.Options & { connect: buildConnector.connector }): Pool {
  const servername = isIP(proxy.hostname.replace(/^\[|\]$/g, '')) ? '' : proxy.hostname;
  const pool = new Pool(proxy, { ...options, connect: (to, done) => options.connect({ ...to, servername }, done) });
  const connect = pool.connect.bind(pool);
  const fail = (cause: NodeJS.ErrnoException) =>
    Promise.reject(/SOCKET|HEADERS/.test(`${cause.code}`) ? new Error('Proxy response (nothing)', { cause }) : cause);
  const checked = (tunnel: Dispatcher.ConnectData) => {
    if (tunnel.statusCode !== 200 || tunnel.socket.readableLength === 0) return tunnel;
    tunnel.socket.on('error', () => undefined).destroy();
    throw new Error('Proxy response (200 with a text of its own)');
  };
  return Object.assign(pool, { connect: (to: Dispatcher.ConnectOptions) => connect(to).then(checked, fail) });
}

/**
 * The address of a proxy, and what CONNECT has: undici's options for `ProxyAgent`, which itself leaves out a user without a
 * password, such as an access key.
 */
export function proxyOptions(uri: string): { uri: string; headers: Record<string, string>; token?: string } {
  const { username, password } = new URL(uri);
  const options = { uri, headers: { 'user-agent': USER_AGENT } };
  if (username === '') return options;
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { ...options, token: `Basic ${Buffer.from(credentials).toString('base64')}` };
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

/** `fetch` for one address, through the proxy if one leads there. Node's own would choose a proxy itself with NODE_USE_ENV_PROXY=1. */
export function fetchFor(url: URL, proxy: EgressProxy | undefined): typeof fetch {
  const uri = proxyFor(url, proxy);
  const connect = { lookup: lookUp };
  const dispatcher =
    uri === undefined
      ? new Agent({ connect })
      : new ProxyAgent({ ...proxyOptions(uri), proxyTls: connect, clientFactory: createProxyClient });
  // Its types are undici's, and Node has those of another version.
  const fetchThrough = fetchWith as unknown as (input: unknown, init: unknown) => Promise<Response>;
  return (input, init) => fetchThrough(input, { ...init, dispatcher });
}
