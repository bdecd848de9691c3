/* One connection to a REST service with TLS at the start: a wrong certificate is in the log before the first call fails. */
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { proxyFor } from '../egress-proxy.ts';
import { createConnector } from '../rest/connect.ts';
import { getPlayer } from '../rest/endpoints.ts';
import { errorOf, isTlsRefusal } from '../rest/upstream-error.ts';
import { explain } from './advice.ts';

/** Sends nothing and delays nothing. With an egress proxy it does nothing: `--probe` finds the mistake there. */
export function tryTls(rest: Config['rest'], log: Logger): void {
  const { baseUrl, proxy } = rest;
  if (baseUrl?.protocol !== 'https:' || proxyFor(baseUrl, proxy)) return;
  const warn = (error: Error) => log.warn(explain(errorOf(getPlayer, error), rest));
  const { port, protocol, origin } = baseUrl;
  const hostname = baseUrl.hostname.replace(/^\[|\]$|\.$/g, '');
  // SNI is taken from `host`, which has no dot at its end.
  const host = baseUrl.host.replace(/\.(?=:|$)/, '');
  createConnector(origin, rest)({ host, hostname, port, protocol }, (error, socket) => {
    if (error) return warn(error);
    // With TLS 1.3 a client certificate is refused after the handshake. Other errors then only mean that the server closed first.
    socket.once('error', (cause) => isTlsRefusal(cause) && warn(cause));
    socket
      .setTimeout(rest.timeoutMs, () => socket.destroy())
      .unref()
      .end();
  });
}
