import type { FastifyInstance, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { ApiError, unauthenticated } from '../errors.ts';
import type { Key } from '../keys.ts';
import type { Programme } from '../programme/file.ts';
import type { Store } from '../store/store.ts';
import { readJson } from '../wire/json.ts';
import { decode, playerUniqueId } from '../wire/members.ts';

/** What the routes need. */
export interface Service {
  store: Store;
  programme: Programme;
  /** The API key is required for every call, the secret one to delete players and to read coupons too. */
  keys: { apiKey: Key; secretKey: Key };
  /** How many backups stay when a new one is made. */
  backupKeep: number;
  /** The address for players' browsers, without a slash at the end. */
  publicUrl(): string;
  /** The current time in milliseconds. */
  now(): number;
}

/** A hook that requires a key, before the path or the body is looked at. */
export function requireKey({ keys }: Service, header: 'APIKey' | 'secretKey') {
  const key = header === 'APIKey' ? keys.apiKey : keys.secretKey;
  return async ({ headers }: FastifyRequest): Promise<void> => {
    // Node gives all header names in lower case, in whichever spelling the client sent them.
    const given = headers[header.toLowerCase()];
    if (!key.matches(Array.isArray(given) ? given.join() : given)) throw unauthenticated(header);
  };
}

/** Accepts JSON bodies only. An empty body is undefined: some clients send the content type without a body. */
export function acceptJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  const read = async ({ headers }: FastifyRequest, body: Buffer) => {
    const encoding = headers['content-encoding'] ?? 'identity';
    if (encoding !== 'identity') throw new ApiError(415, 'The body is compressed: send it as it is');
    return body.length === 0 ? undefined : readJson(body);
  };
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, read);
}

const PATH = z.object({ playerUniqueId });

/** The player id of a path, unescaped. Throws an ApiError if it is invalid. */
export function playerIdOf(request: FastifyRequest): string {
  return decode(PATH, request.params, 'The path').playerUniqueId;
}
