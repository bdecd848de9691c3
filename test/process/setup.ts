/* Each test has a scripted REST service of its own, and starts the built program in front of it. Both end with the test. */
import { afterEach, beforeEach } from '@jest/globals';
import { post } from '../kit/gateway.ts';
import { type GatewayProcess, startProcess } from '../kit/process.ts';
import { startUpstream, type Upstream } from '../kit/upstream.ts';

export let upstream: Upstream;

const cleanUps: (() => unknown)[] = [];
export const atEnd = (cleanUp: () => unknown) => void cleanUps.push(cleanUp);

beforeEach(async () => {
  upstream = await startUpstream();
  atEnd(upstream.close);
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

export async function start(env: Record<string, string> = {}, nodeOptions: string[] = []): Promise<GatewayProcess> {
  const gateway = await startProcess({ REST_BASE_URL: upstream.url, ...env }, nodeOptions);
  atEnd(gateway.kill);
  return gateway;
}

export const ask = ({ url }: { url: string }, id = 'p1') =>
  post(url, { query: `{ player(playerUniqueId: "${id}") { id } }` });

export const ENDED = { code: 0, signal: null };
