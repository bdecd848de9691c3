/* Requests as bytes on a socket, for what no honest client would send. */
import { connect } from 'node:net';
import { assertNoSecret } from './leaks.ts';

export interface RawAnswer {
  /** Of the first answer; 0 when the connection was closed without one. */
  status: number;
  /** Header lines of the first answer, in lower case. */
  head: string;
  /** What follows the first head. */
  body: string;
  /** The status of every answer on the connection. */
  statuses: number[];
  /** Everything that came. */
  text: string;
}

/** How long a silent connection is waited for: a server that says nothing is told from one that is slow. */
const PATIENCE_MS = 8_000;

/** Sends bytes and reads until the server closes. */
export function raw(url: string, ...parts: (string | Buffer)[]): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => {
      for (const part of parts) socket.write(part);
    });
    socket.setTimeout(PATIENCE_MS, () => socket.destroy());
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      const text = Buffer.concat(chunks).toString();
      try {
        assertNoSecret(text);
        resolve(read(text));
      } catch (error) {
        reject(error);
      }
    });
  });
}

function read(text: string): RawAnswer {
  const end = text.indexOf('\r\n\r\n');
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
  return {
    status: statuses[0] ?? 0,
    head: text.slice(0, Math.max(end, 0)).toLowerCase(),
    body: end < 0 ? '' : text.slice(end + 4),
    statuses,
    text,
  };
}

export interface RawRequest {
  method?: string;
  target?: string;
  version?: string;
  /** Header lines; `Host`, `Connection` and, with a body, `Content-Length` are added unless a line begins with their name. */
  headers?: readonly string[];
  body?: string | Buffer;
}

/** The bytes of a request, closing the connection after its answer. */
export function requestBytes({
  method = 'POST',
  target = '/graphql',
  version = '1.1',
  headers = [],
  body,
}: RawRequest): Buffer {
  const given = (name: string) => headers.some((line) => line.toLowerCase().startsWith(name));
  const content = Buffer.from(body ?? '');
  const lines = [
    `${method} ${target} HTTP/${version}`,
    ...(given('host') ? [] : ['Host: gateway.test']),
    ...(given('connection') ? [] : ['Connection: close']),
    ...(body === undefined || given('content-length') || given('transfer-encoding')
      ? []
      : [`Content-Length: ${content.length}`]),
    ...headers,
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), content]);
}
