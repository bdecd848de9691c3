/* One connection to a REST service with TLS at the start: a wrong certificate is in the log before the first call fails. */
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { secureContext } from '../config/tls.ts';
import { proxyFor } from '../egress-proxy.ts';
import { isTlsRefusal, UpstreamError } from '../rest/upstream-error.ts';
import { explain } from './advice.ts';

/** Sends nothing and delays nothing. With an egress proxy it does nothing: `--probe` finds the mistake there. */
export function tryTls(rest: Config['rest'], log: Logger): void {
  const { baseUrl, proxy, timeoutMs, tls = {} } = rest;
  if (baseUrl?.protocol !== 'https:' || proxyFor(baseUrl, proxy)) return;
  const host = baseUrl.hostname.replace(/^\[|\]$|\.$/g, '');
  const socket = connect({
    host,
    port: Number(baseUrl.port || 443),
    servername: isIP(host) ? '' : host,
    ...secureContext(tls),
  });
  let isOpen = false;
  socket.setTimeout(timeoutMs, () => socket.destroy());
  socket.once('secureConnect', () => {
    isOpen = true;
    socket.end();
  });
  socket.once('error', (cause) => {
    // With TLS 1.3 a client certificate is refused after the handshake. Other errors then only mean that the server closed first.
    if (isOpen && !isTlsRefusal(cause)) return;
    log.warn(explain(new UpstreamError('UPSTREAM_UNAVAILABLE', 'no connection', { cause }), rest));
  });
  socket.unref();
}
