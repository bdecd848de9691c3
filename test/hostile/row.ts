/* What a hostile request is, and what must come of it. */
import type { RawRequest } from '../kit/raw.ts';
import type { EndpointName, Script } from '../kit/upstream.ts';

export interface Row {
  name: string;
  /** A request, to which its caller's token is added; or bytes as they are, with the token in the place of `AUTHORIZED`. */
  send: RawRequest | (string | Buffer)[];
  /**
   * `phone`: a player's token, with `any-player` too, because most rows are new documents, of which one player may send few;
   * `server`: a client with every scope; `nobody`: no token. Default `phone`.
   */
  as?: 'phone' | 'server' | 'nobody';
  status: number;
  /** Of the first error's extensions. */
  code?: string;
  limit?: string;
  /** What the REST service receives. Default: nothing. */
  upstream?: string[];
  /** The data, where there is any. */
  data?: unknown;
  has?: RegExp;
  hasNot?: RegExp;
  /** What the REST service responds. */
  script?: [EndpointName, Script];
}

/** Stands for the header with the caller's token in bytes. */
export const AUTHORIZED = '{authorization}';
export const JSON_TYPE = 'Content-Type: application/json';

/** A good operation, its data and its call. */
export const GOOD = '{ me { id } }';
export const GOOD_BODY = JSON.stringify({ query: GOOD });
export const PLAYER = 'GET /integrations/player/p1';
export const good = { status: 200, data: { me: { id: 'p1' } }, upstream: [PLAYER] };
export const bad = { status: 400, code: 'BAD_REQUEST' };

/** An operation as a client would send it. */
export function operation(query: unknown, variables?: unknown, more: object = {}): RawRequest {
  return text(JSON.stringify({ query, variables, ...more }));
}

/** A body, as JSON unless headers say otherwise. */
export function text(body: string | Buffer, ...headers: string[]): RawRequest {
  return { body, headers: headers.some((line) => /^content-type/i.test(line)) ? headers : [JSON_TYPE, ...headers] };
}

/**
 * Rows that share an expectation.
 * @param entries Name, the request (a text is a query without variables), and what differs.
 */
export function rows(
  common: Omit<Row, 'name' | 'send'>,
  ...entries: [name: string, send: Row['send'] | string, more?: Partial<Row>][]
): Row[] {
  const request = (send: Row['send'] | string) => (typeof send === 'string' ? operation(send) : send);
  return entries.map(([name, send, more]) => ({ name, send: request(send), ...common, ...more }));
}

export const repeat = (count: number, make: (index: number) => string) =>
  Array.from({ length: count }, (_, n) => make(n)).join(' ');
