/* Requests as bytes on a socket, for what no honest client would send. */
import { connect } from 'node:net';
import { assertNoSecret } from './leaks.ts';

export type RawAnswer = Awaited<ReturnType<typeof raw>>;

/** How long a silent connection is waited for: a server that says nothing is told from one that is slow. */
const PATIENCE_MS = 8_000;

/** Sends bytes and reads until the server closes. */
export async function raw(url: string, ...parts: (string | Buffer)[]) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname, () => {
    for (const part of parts) socket.write(part);
  });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => socket.destroy());
  socket.setTimeout(PATIENCE_MS, () => socket.destroy());
  await new Promise((resolve) => socket.on('close', resolve));
  const text = Buffer.concat(chunks).toString();
  assertNoSecret(text);
  const end = text.indexOf('\r\n\r\n');
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
  return {
    /** Of the first answer; 0 when the connection was closed without one. */
    status: statuses[0] ?? 0,
    /** Header lines of the first answer, in lower case. */
    head: text.slice(0, Math.max(end, 0)).toLowerCase(),
    /** What follows the first head. */
    body: end < 0 ? '' : text.slice(end + 4),
    /** The status of every answer on the connection. */
    statuses,
    /** Everything that came. */
    text,
  };
}

export interface RawRequest {
  method?: string;
  target?: string;
  /** Header lines; `Host`, `Connection` and, with a body, `Content-Length` are added unless a line begins with their name. */
  headers?: readonly string[];
  body?: string | Buffer;
}

/** The bytes of a request, closing the connection after its answer. */
export function requestBytes({ method = 'POST', target = '/graphql', headers = [], body }: RawRequest): Buffer {
  const given = (name: string) => headers.some((line) => line.toLowerCase().startsWith(name));
  const content = Buffer.from(body ?? '');
  const lines = [`${method} ${target} HTTP/1.1`];
  if (!given('host')) lines.push('Host: gateway.test');
  if (!given('connection')) lines.push('Connection: close');
  if (body !== undefined && !given('content-length') && !given('transfer-encoding'))
    lines.push(`Content-Length: ${content.length}`);
  return Buffer.concat([Buffer.from(`${[...lines, ...headers].join('\r\n')}\r\n\r\n`, 'latin1'), content]);
}
