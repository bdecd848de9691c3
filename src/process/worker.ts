import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../config/config.ts';
import { serve } from '../serve.ts';
import type { Lifecycle } from './lifecycle.ts';
import { answerPrimary } from './worker-messages.ts';

/**
 * One gateway among several of this machine. The primary tells it when to end: Ctrl-C at a terminal reaches both, and
 * SIGTERM may reach it twice. When the primary is gone, node:cluster ends the worker.
 */
export async function runWorker(config: Config, lifecycle: Lifecycle, log: FastifyBaseLogger): Promise<void> {
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => lifecycle.end('SIGTERM', 0));
  const serving = lifecycle.own(await serve(config, (config.rest.baseUrl ?? '').toString(), log));
  lifecycle.run();
  answerPrimary(serving.url, {
    reasons: async () => (lifecycle.phase === 'running' ? await serving.reasons() : [lifecycle.phase]),
    metrics: () => serving.registry.getMetricsAsJSON(),
  });
}
