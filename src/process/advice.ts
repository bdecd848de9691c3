/* What `--probe` says about a call of the REST service that failed: one line that begins with the setting to mend. */
import type { Config } from '../config/config.ts';
import { fingerprint } from '../config/environment.ts';
import { reveal, type Secret } from '../config/secret.ts';
import { proxyFor } from '../egress-proxy.ts';
import { TLS_REFUSAL, type UpstreamError } from '../rest/upstream-error.ts';

const BY_CAUSE: [RegExp, string][] = [
  [/^ENOTFOUND|^EAI_AGAIN/, 'REST_BASE_URL: its host has no address here; check the name, and the DNS of this machine'],
  [/^ECONNREFUSED/, 'REST_BASE_URL: nothing listens there; check host and port'],
  [/^E(?:HOST|NET)UNREACH|^EACCES|^EINVAL|^EPERM/, 'REST_BASE_URL: no route leads there; check firewalls and routes'],
  [/CERT_HAS_EXPIRED|NOT_YET_VALID/, 'REST_BASE_URL: its certificate is not valid today; renew it, or set the clock'],
  [/ALTNAME/, 'REST_BASE_URL: the certificate is for another host; use the name that is in it'],
  [/SELF_SIGNED|VERIFY|ISSUER/, 'REST_CA_FILE: the authority is not trusted; name its file, or have the chain sent'],
  [TLS_REFUSAL, 'REST_CLIENT_CERT_FILE: the service wants a certificate that its own authority issued'],
  [/HANDSHAKE|RECOGNIZED/, 'REST_BASE_URL: the service refuses host name or ciphers, or wants a REST_CLIENT_CERT_FILE'],
  [/APPLICATION_PROTOCOL/, 'REST_BASE_URL: the service speaks HTTP/2 alone there; it must accept HTTP/1.1'],
  [/ALERT/, 'REST_BASE_URL: the service does not accept the TLS version, the ciphers or the key of the gateway'],
  [/WRONG_VERSION|PACKET_LENGTH|EPROTO/, 'REST_BASE_URL: there is no TLS at this port; use http:// or another port'],
  [
    /^ERR_SSL_|^UNSPECIFIED|TOO_|PURPOSE|INVALID_CA|PATH_LENGTH/,
    'REST_BASE_URL: its TLS or its certificate is too old or too weak, such as SHA-1 or a short key, or is not for servers; ask its operator',
  ],
];

/** What to do about an egress proxy, by the message of the error. */
const OF_PROXY: [RegExp, string][] = [
  [/EPROTO|WRONG_VERSION|PACKET_LENGTH/, 'begin it with http:// if the proxy has no TLS'],
  [/SELF_SIGNED|VERIFY|ISSUER/, 'name its authority in NODE_EXTRA_CA_CERTS'],
  [/TLS error/, 'its certificate must be valid today, and for this host'],
  [/nothing|no HTTP/, 'is it an HTTP proxy, and must it begin with https://?'],
  [/./, 'check its user, its password and what it allows'],
];

/** nginx says this with 400. */
const WANTS_CERTIFICATE = 'does it want a client certificate (REST_CLIENT_CERT_FILE)?';

/** What to do about an error that is not about a key. */
export function explain(error: UpstreamError, { proxy, baseUrl }: Config['rest']): string {
  const { status, message } = error;
  const cause = Object(error.cause);
  const isHttps = baseUrl?.protocol === 'https:';
  const through = baseUrl && proxyFor(baseUrl, proxy);
  const [, host, port] = /([^/@:]+)(?::(\d+))?\/?$/.exec(through ?? '') ?? [];
  const name = isHttps && proxy?.https !== proxy?.http ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const [, advice] = BY_CAUSE.find(([pattern]) => pattern.test(cause.code)) ?? [];
  // Of a name with several addresses, each has an error.
  const way = cause.errors?.[0] ?? cause;
  if (through && (way.hostname === host || String(way.port) === port))
    return `${name}: the proxy cannot be reached (${cause.code}); check its address, or add the host to NO_PROXY`;
  if (/egress proxy responded 5/.test(message))
    return `REST_BASE_URL: ${message}: it does not reach that host; check host and port`;
  if (message.includes('egress proxy'))
    return `${name}: ${message}; ${OF_PROXY.find(([pattern]) => pattern.test(message))?.[1]}`;
  if (advice) return `${advice} (${cause.code})`;
  if (isHttps && status === 400 && error.serviceCode === undefined)
    return `REST_BASE_URL: the service responds with 400 and without a code; ${WANTS_CERTIFICATE}`;
  const hasNone = status === undefined && error.code !== 'UPSTREAM_INVALID_RESPONSE';
  return `REST_BASE_URL: ${hasNone ? withoutResponse(error, isHttps) : withStatus(error)}`;
}

function withoutResponse(error: UpstreamError, isHttps: boolean): string {
  // The time of a call begins when it has a connection.
  if (error.code === 'UPSTREAM_TIMEOUT' && !error.cause)
    return 'no response in time, on a connection that was opened; ask its operator, or raise REST_TIMEOUT_MS';
  if (error.code === 'UPSTREAM_TIMEOUT' || error.skipped)
    return 'no connection in time; check host and port, and that no firewall drops the packets';
  const { code } = Object(error.cause);
  // With TLS 1.3, a service that requires a client certificate closes the connection after the handshake. So does a TLS proxy that
  // does not reach the service.
  return `no response (${code}); ${isHttps ? `is it up behind its TLS proxy, or ${WANTS_CERTIFICATE}` : 'must it begin with https://?'}`;
}

function withStatus(error: UpstreamError): string {
  // A response about another player has no status in its error.
  const { status = 200 } = error;
  if (status >= 300 && status < 400) return `it is redirected (${status}); use the address that it leads to`;
  if ([202, 401, 403].includes(status))
    return `a page refuses the call (${status}), so something in between does; let its firewall allow this machine`;
  return error.code === 'UPSTREAM_INVALID_RESPONSE'
    ? `the response (${told(error)}) is not of the REST interface: the service fails, or it is a website or another service`
    : `the service responds with ${told(error)}: it fails, or it is another service; ask its operator`;
}

export const keyRefused = (name: string, key: Secret, error: UpstreamError) =>
  `${name}: the service refuses it (${told(error)}); compare it with the key of the account, its SHA-256 begins with ${fingerprint(reveal(key))}`;

export function told({ status, serviceCode, message }: UpstreamError): string {
  if (status === undefined) return message;
  return serviceCode === undefined ? `${status}` : `${status}, code ${serviceCode}`;
}
