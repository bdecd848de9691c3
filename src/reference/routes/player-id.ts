import type { FastifyRequest } from 'fastify';
import * as z from 'zod';
import { decode } from '../wire/decode.ts';
import { playerUniqueId } from '../wire/members.ts';

const PATH = z.object({ playerUniqueId });

/** The player that a path is about, unescaped. Throws a Refusal when no player can have that identifier. */
export function playerIdOf(request: FastifyRequest): string {
  return decode(PATH, request.params, 'The path').playerUniqueId;
}
