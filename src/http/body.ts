/*
 * Reads the body of a request into one growing buffer. Before its caller is authenticated, the gateway keeps no part of the
 * body. docs/decisions/0009-body-in-one-buffer.md has the reasons and figures. The buffers of all unfinished bodies
 * share one limit: when it is reached, the largest body of the address with the most bytes is aborted first. Node's
 * `requestTimeout` bounds the time.
 */
import { isUtf8 } from 'node:buffer';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ClientError, requestError } from '../graphql/errors.ts';
import { isExact } from '../graphql/input/problems.ts';
import { clientAddress } from '../limits/address.ts';
import { addressOf, clientGone } from './connections.ts';
import { overloaded } from './overload.ts';

/** The one content type that is accepted. Other parameters could be interpreted differently by a proxy. */
const JSON_IN_UTF8 = /^application\/json *(?:; *charset *= *(?:utf-?8|"utf-?8") *)?;?$/i;
const MAX_CONTENT_TYPE_LENGTH = 100;

const EMPTY: Buffer = Buffer.alloc(0);
const FIRST_BYTES = 4_096;
/** The memory of all unfinished bodies of a process, in bytes. */
const MAX_TOTAL_BYTES = 64 * 1_024 * 1_024;
/** A refused body up to this length is discarded, and its connection is used again. */
const MAX_DISCARDED_BYTES = 32_768;
/** How long a client has to finish such a body, or to read the refusal of a longer one, in milliseconds. */
const LINGER_MS = 2_000;
/** The longest list anywhere in a body. */
const MAX_LIST_LENGTH = 500;

/** A body that is being read and takes memory: it did not arrive in one piece. */
interface Unfinished {
  readonly address: string;
  bytes: number;
  abort(error: Error): void;
}

export class BodyReader {
  readonly #unfinished = new Set<Unfinished>();
  #totalBytes = 0;

  /**
   * The JSON of a POST request; undefined for any other request. Throws a ClientError: 413 over `maxBytes`, 415 for anything
   * but JSON in UTF-8, 400 for text that is not JSON, 503 when all bodies together take too much memory. `charge` is called
   * with the length before the body is parsed, and may throw.
   */
  async read(request: FastifyRequest, maxBytes: number, charge: (bytes: number) => void): Promise<unknown> {
    if (request.method !== 'POST') return undefined;
    // 'close' was emitted before, so nothing would end the wait for the body.
    if (request.raw.destroyed) throw clientGone();
    refuseOtherEncodings(request.headers['content-type'], request.headers['content-encoding']);
    if (Number(request.headers['content-length']) > maxBytes) throw tooLarge();
    // Usually the body has arrived completely. Then it needs no listeners, which would take 3 µs.
    const bytes: Buffer = request.raw.complete
      ? (request.raw.read() ?? EMPTY)
      : await this.#collect(request, addressOf(request), maxBytes);
    if (bytes.length > maxBytes) throw tooLarge();
    charge(bytes.length);
    const body = parseJson(bytes);
    checkMembers(body);
    return body;
  }

  #collect({ raw }: FastifyRequest, address: string, maxBytes: number): Promise<Buffer> {
    const expected = Number(raw.headers['content-length']);
    let buffer = EMPTY;
    let length = 0;
    return new Promise((resolve, reject) => {
      const entry: Unfinished = { address, bytes: 0, abort };
      const onData = (chunk: Buffer) => {
        const needed = length + chunk.length;
        if (needed > maxBytes) return abort(tooLarge());
        // A body that arrives in one piece is used as it is.
        if (chunk.length === expected) buffer = chunk;
        else if (needed > buffer.length) {
          const larger = Math.min(Math.max(needed, 2 * buffer.length, FIRST_BYTES), maxBytes);
          if (!this.#reserve(entry, larger)) return abort(overloaded());
          const grown = Buffer.allocUnsafe(larger);
          buffer.copy(grown, 0, 0, length);
          buffer = grown;
        }
        if (buffer !== chunk) chunk.copy(buffer, length);
        length = needed;
      };
      const onEnd = () => {
        settle();
        resolve(buffer.subarray(0, length));
      };
      const onClose = () => abort(clientGone());
      const settle = () => {
        this.#unfinished.delete(entry);
        this.#totalBytes -= entry.bytes;
        raw.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      };
      function abort(error: Error): void {
        settle();
        raw.pause();
        reject(error);
      }
      raw.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
    });
  }

  /** Reserves memory for a body of `bytes`; aborts the largest bodies if needed. False when there is still too little. */
  #reserve(entry: Unfinished, bytes: number): boolean {
    const growth = bytes - entry.bytes;
    while (this.#totalBytes + growth > MAX_TOTAL_BYTES) {
      const largest = this.#largestOfLargestAddress();
      if (!largest || largest === entry) return false;
      largest.abort(overloaded());
    }
    this.#unfinished.add(entry);
    this.#totalBytes += growth;
    entry.bytes = bytes;
    return true;
  }

  #largestOfLargestAddress(): Unfinished | undefined {
    const byAddress = new Map<string, number>();
    for (const { address, bytes } of this.#unfinished) {
      const client = clientAddress(address);
      byAddress.set(client, (byAddress.get(client) ?? 0) + bytes);
    }
    const most = Math.max(...byAddress.values());
    let largest: Unfinished | undefined;
    for (const one of this.#unfinished) {
      if (byAddress.get(clientAddress(one.address)) === most && one.bytes > (largest?.bytes ?? -1)) largest = one;
    }
    return largest;
  }
}

/** Connections on which a refusal was sent and nothing else will be. */
const closing = new WeakSet<Socket>();

/** Whether nothing more is to be sent on a connection, not even an error. */
export function isClosing(socket: Socket): boolean {
  return closing.has(socket);
}

/** Keeps Fastify from reading bodies; `BodyReader` reads them. */
export function leaveBodiesUnread(app: FastifyInstance): void {
  for (const method of app.supportedMethods) app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  app.addHook('onSend', ({ raw }, reply, payload, done) => {
    if (!raw.complete && hasBody(raw)) refuseBody(raw, reply);
    done(null, payload);
  });
}

function hasBody({ headers }: FastifyRequest['raw']): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Discards a short body. A longer one is not read, nor is anything after it, and the connection is closed after `LINGER_MS`.
 * If it were closed at once, the client could not read the response, and an attacker would open the next connection, which
 * costs the most. The time starts after this response, because earlier responses may still be pending.
 */
function refuseBody(raw: FastifyRequest['raw'], reply: FastifyReply): void {
  const { socket } = raw;
  const closeLater = () => {
    const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    for (const event of ['end', 'close']) raw.once(event, () => clearTimeout(timer));
  };
  if (Number(raw.headers['content-length']) <= MAX_DISCARDED_BYTES) {
    reply.raw.once('finish', () => raw.readableEnded || closeLater());
  } else {
    void reply.header('connection', 'close');
    // Node's parser reads until `push` returns false, and again after `_read`.
    raw.push = () => false;
    raw._read = () => undefined;
    // Node's server calls this after the response, to close the connection at once.
    socket.destroySoon = () => {
      socket.pause();
      closing.add(socket);
      closeLater();
    };
  }
  raw.resume();
}

function refuseOtherEncodings(contentType = '', contentEncoding = 'identity'): void {
  if (contentType.length > MAX_CONTENT_TYPE_LENGTH || !JSON_IN_UTF8.test(contentType)) {
    throw requestError('BAD_REQUEST', 415, 'The body must be JSON in UTF-8, with the content type application/json.');
  }
  if (contentEncoding.trim().toLowerCase() !== 'identity') {
    throw requestError('BAD_REQUEST', 415, 'The body must not be compressed.');
  }
}

function parseJson(body: Buffer): unknown {
  if (body.length === 0) throw requestError('BAD_REQUEST', 400, 'The body is empty; send the operation as JSON.');
  if (!isUtf8(body)) throw requestError('BAD_REQUEST', 400, 'The body is not valid UTF-8.');
  try {
    return JSON.parse(body.toString());
  } catch {
    throw requestError('BAD_REQUEST', 400, 'The body is not valid JSON.');
  }
}

/**
 * Refuses lists that are too long, and numbers that JSON parsing rounded: as a player's identifier, 9007199254740993 would
 * become that of another player. Iterative, because deep nesting would overflow the stack.
 */
function checkMembers(body: unknown): void {
  const open: object[] = [{ body }];
  for (let container = open.pop(); container !== undefined; container = open.pop()) {
    for (const [name, member] of Object.entries(container)) {
      if (Array.isArray(member) && member.length > MAX_LIST_LENGTH) throw listTooLong(name, member.length);
      if (typeof member === 'object' && member !== null) open.push(member);
      else if (typeof member === 'number' && !isExact(member, name)) {
        const message = `The number "${name.slice(0, 60)}" is too large to be exact; write it as a string.`;
        throw requestError('BAD_REQUEST', 400, message);
      }
    }
  }
}

function listTooLong(name: string, length: number): ClientError {
  const message = `The list "${name.slice(0, 60)}" has ${length} members; at most ${MAX_LIST_LENGTH} are allowed.`;
  return requestError('BAD_USER_INPUT', 400, message);
}

function tooLarge(): ClientError {
  return requestError('BAD_REQUEST', 413, 'The body is larger than this gateway accepts.');
}
