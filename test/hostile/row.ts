/* What a hostile request is, and what must come of it. */
import type { RawRequest } from '../kit/raw.ts';
import type { EndpointName, Script } from '../kit/upstream.ts';

export interface Row {
  name: string;
  /** A request, to which its caller's token is added; or bytes as they are, with the token in the place of `AUTHORIZED`. */
  send: RawRequest | (string | Buffer)[];
  /**
   * `phone`: a player's token, with `any-player` too, because most rows are new documents, of which one player may send few;
   * `player`: bound to its player; `server`: a client with every scope; `nobody`: no token. Default `phone`.
   */
  as?: 'phone' | 'player' | 'server' | 'nobody';
  /** The status; 0 for a connection that is closed without an answer. */
  status: number | number[];
  /** The code of the first error. */
  code?: string;
  /** `extensions.limit` of the first error. */
  limit?: string;
  /** What the REST service hears. Default: nothing. */
  upstream?: string[];
  /** How many answers come. Default: one at most. */
  answers?: number;
  /** The data, where there is any. */
  data?: unknown;
  has?: RegExp;
  hasNot?: RegExp;
  /** What the REST service answers. */
  script?: [EndpointName, Script];
}

/** Stands for the header with the caller's token in bytes. */
export const AUTHORIZED = '{authorization}';

export const JSON_TYPE = 'Content-Type: application/json';

/** An operation as a client would send it. */
export function operation(query: unknown, variables?: unknown, more: object = {}): RawRequest {
  return text(JSON.stringify({ query, variables, ...more }));
}

/**
 * Rows that share an expectation.
 * @param entries Name, the request (a text is a query without variables), and what differs.
 */
export function rows(
  common: Omit<Row, 'name' | 'send'>,
  ...entries: [name: string, send: Row['send'] | string, more?: Partial<Row>][]
): Row[] {
  return entries.map(([name, send, more]) => ({
    name,
    send: typeof send === 'string' ? operation(send) : send,
    ...common,
    ...more,
  }));
}

/** Any body, as JSON unless headers say otherwise. */
export function text(body: string | Buffer, ...headers: string[]): RawRequest {
  return { body, headers: headers.some((line) => /^content-type/i.test(line)) ? headers : [JSON_TYPE, ...headers] };
}

/** The REST service hears of the player p1. */
export const PLAYER = 'GET /integrations/player/p1';
/** A good operation, and its data. */
export const GOOD = '{ me { id } }';
export const GOOD_DATA = { me: { id: 'p1' } };
export const GOOD_BODY = JSON.stringify({ query: GOOD });
