import { createPrivateKey, X509Certificate } from 'node:crypto';
import { reveal, type Secret } from './secret.ts';

/** Which certificates are trusted, and who the gateway is, towards one server. */
export interface Tls {
  /** In place of those that Node trusts. */
  ca?: string;
  cert?: string;
  key?: Secret;
}

export function tlsOf(ca: string | undefined, cert: string | undefined, key: Secret | undefined): Tls | undefined {
  return ca || cert || key ? { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) } : undefined;
}

/** As Node's `tls.connect` wants it. As with other programs, the intermediate authority alone may be trusted. */
export function secureContext({ key, ...tls }: Tls) {
  return { ...tls, allowPartialTrustChain: tls.ca !== undefined, ...(key && { key: reveal(key) }) };
}

/** What is wrong with them, by the prefix of their variables: one line each. */
export function tlsProblems(prefix: string, { ca, cert, key }: Tls = {}): string[] {
  const certFile = `${prefix}_CLIENT_CERT_FILE`;
  const keyFile = `${prefix}_CLIENT_KEY_FILE`;
  return [
    ...(ca ? certificateProblems(`${prefix}_CA_FILE`, ca) : []),
    ...(cert ? certificateProblems(certFile, cert) : []),
    ...(cert && !key ? [`${keyFile}: is needed with ${certFile}`] : []),
    ...(key && !cert ? [`${certFile}: is needed with ${keyFile}`] : []),
    ...(cert && key ? keyProblems(keyFile, certFile, cert, reveal(key)) : []),
  ];
}

function certificateProblems(name: string, pem: string): string[] {
  const found = pem.match(/-----BEGIN (?:TRUSTED )?CERTIFICATE-----[^-]+-----END [^-]+-----/g) ?? [];
  if (found.length === 0) return [`${name}: the file has no certificate in PEM`];
  try {
    const valid = found
      .map((one) => new X509Certificate(one))
      .filter(({ validTo }) => Date.parse(validTo) > Date.now());
    const first = new X509Certificate(found[0] ?? '');
    return valid.length > 0 ? [] : [`${name}: the certificate of ${first.subject} expired on ${first.validTo}`];
  } catch {
    return [`${name}: a certificate cannot be read`];
  }
}

function keyProblems(name: string, certFile: string, cert: string, key: string): string[] {
  try {
    const fits = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
    return fits ? [] : [`${name}: is not the key of the certificate in ${certFile}`];
  } catch {
    return [`${name}: must be a private key in PEM, without a passphrase`];
  }
}
