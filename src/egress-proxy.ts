import { EnvHttpProxyAgent, fetch as fetchWith } from 'undici';
import type { EgressProxy } from './config/config.ts';
import { reveal } from './config/secret.ts';

/** Sends requests through the proxy, as tunnels (CONNECT), but those to hosts of `NO_PROXY` and to loopback directly. */
export function throughProxy({ http, https, except }: EgressProxy, options: EnvHttpProxyAgent.Options = {}) {
  const urls = { httpsProxy: reveal(https), ...(http && { httpProxy: reveal(http) }) };
  return new EnvHttpProxyAgent({ ...options, ...urls, noProxy: except });
}

/** `fetch` through the proxy. */
export function createProxyFetch(proxy: EgressProxy): typeof fetch {
  const dispatcher = throughProxy(proxy);
  // Its types are undici's, and Node has those of another version.
  const fetchThrough = fetchWith as unknown as (input: unknown, init: unknown) => Promise<Response>;
  return (input, init) => fetchThrough(input, { ...init, dispatcher });
}
