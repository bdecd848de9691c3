import type { FastifyInstance } from 'fastify';
import { LOOPBACK } from '../../config/loopback.ts';
import { badRequest } from './body.ts';

/**
 * Answers only requests that were meant for this machine. An open gateway trusts whoever can reach it, and a website can
 * reach it through its visitor's browser, by a name of its own that it lets point to 127.0.0.1 (DNS rebinding). Such a
 * request still carries that name.
 */
export function refuseForeignHosts(app: FastifyInstance): void {
  app.addHook('onRequest', ({ hostname }, _reply, done) => {
    if (LOOPBACK.test(hostname)) return done();
    return done(badRequest(421, 'Without a token setting this gateway answers to localhost and 127.0.0.1 only.'));
  });
}
