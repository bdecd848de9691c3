/* Each test has a scripted REST service of its own, and starts the built program in front of it. Both end with the test. */
import { beforeEach } from '@jest/globals';
import { post } from '../kit/post.ts';
import { startProcess } from '../kit/process.ts';
import { startUpstream, type Upstream } from '../kit/upstream.ts';

export let upstream: Upstream;

beforeEach(async () => {
  upstream = await startUpstream();
});

export const start = (env: Record<string, string> = {}, nodeOptions: string[] = []) =>
  startProcess({ REST_BASE_URL: upstream.url, ...env }, nodeOptions);

export const ask = ({ url }: { url: string }, id = 'p1') =>
  post(url, { query: `{ player(playerUniqueId: "${id}") { id } }` });

export const ENDED = { code: 0, signal: null };
