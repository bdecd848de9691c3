import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { ApiError } from '../errors.ts';

/** Players whose calls fail in one way each, so that a client can be built for it. */
export const STATES = [
  ...(['demo-slow-coupons', 'demo-no-coupons', 'demo-no-friends'] as const),
  ...(['demo-coupons-come-back', 'demo-lost-event', 'demo-event-then-down', 'demo-throttled'] as const),
];

/** How long the reads of `demo-event-then-down` fail after an event: longer than a client's retries. */
const DOWN_MS = 10_000;

/** How long the coupons of `demo-coupons-come-back` fail, and after how long without a read they fail anew. */
const [AWAY_MS, QUIET_MS] = [5_000, 30_000];

const PLAYER = z.object({ playerUniqueId: z.string() });

/** The player of a call, from its path or its body. */
function playerOf({ params, body }: FastifyRequest): string | undefined {
  return (PLAYER.safeParse(params).data ?? PLAYER.safeParse(body).data)?.playerUniqueId;
}

/** Adds the trouble of these players to the REST interface. In development only. */
export function troubleDemoPlayers(app: FastifyInstance): void {
  const hanging = new Set<Socket>();
  let downUntil = 0;
  let [readAt, awayUntil] = [0, 0];
  const unavailable = () => new ApiError(503, 'A demo of a service that is not available');

  app.addHook('preHandler', async (request, reply) => {
    const { method, routeOptions, raw } = request;
    const [path = '', player] = [routeOptions.url, playerOf(request)];
    const isCoupons = path.endsWith('/coupon');
    if (player === 'demo-slow-coupons' && isCoupons) {
      hanging.add(raw.socket);
      raw.socket.once('close', () => hanging.delete(raw.socket));
      reply.hijack();
    }
    if (player === 'demo-no-coupons' && isCoupons) throw unavailable();
    if (player === 'demo-coupons-come-back' && isCoupons) {
      const now = Date.now();
      if (now - readAt > QUIET_MS) awayUntil = now + AWAY_MS;
      readAt = now;
      if (now < awayUntil) throw unavailable();
    }
    if (player === 'demo-no-friends' && path.endsWith('/referrals')) throw unavailable();
    if (player === 'demo-event-then-down' && method === 'GET' && Date.now() < downUntil) throw unavailable();
    if (player === 'demo-throttled') {
      reply.header('retry-after', 5);
      throw new ApiError(429, 'A demo of too many calls');
    }
  });

  // By now an event is stored.
  app.addHook('onSend', async (request, { statusCode }) => {
    if (statusCode !== 200 || !request.routeOptions.url?.endsWith('/event')) return;
    const player = playerOf(request);
    if (player === 'demo-lost-event') request.raw.socket.destroy();
    if (player === 'demo-event-then-down') downUntil = Date.now() + DOWN_MS;
  });

  app.addHook('preClose', async () => {
    for (const socket of hanging) socket.destroy();
  });
}
