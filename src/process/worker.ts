import type { FastifyBaseLogger } from 'fastify';
import type { Config } from '../config/config.ts';
import { serve } from '../serve.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Status } from './management.ts';
import { answerPrimary } from './worker-messages.ts';

/** Runs one of several gateways on this machine, started by the primary. When the primary ends, node:cluster ends it. */
export async function runWorker(config: Config, lifecycle: Lifecycle, log: FastifyBaseLogger): Promise<void> {
  const restUrl = (config.rest.baseUrl ?? '').toString();
  const serving = lifecycle.stopAtEnd(await serve(config, restUrl, log, { draining: lifecycle.draining }));
  lifecycle.run();
  const status = async (): Promise<Status> =>
    lifecycle.phase === 'running' ? await serving.status() : { reasons: [lifecycle.phase], conditions: [] };
  answerPrimary(serving.url, { status, metrics: () => serving.registry.getMetricsAsJSON() });
}
