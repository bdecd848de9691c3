import { type ChildProcess, type ForkOptions, fork } from 'node:child_process';
import { on, once } from 'node:events';
import type { FastifyBaseLogger } from 'fastify';
import { isJson } from '../json.ts';
import type { Lifecycle, Stoppable } from './lifecycle.ts';

export class ReferenceFailed extends Error {}

/** Starts the reference service; `url` is in the form of REST_BASE_URL. When it ends unexpectedly, the gateway ends too. */
export async function startReference(lifecycle: Lifecycle, log: FastifyBaseLogger): Promise<Stoppable & { url: URL }> {
  // The reference service must not have our stdout; see `openStdout`.
  const options: ForkOptions = { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] };
  const child = fork(new URL('./reference/main.js', import.meta.url), ['--demo'], options);
  child.stdout?.pipe(process.stderr, { end: false });
  child.stderr?.pipe(process.stderr, { end: false });
  const url = await readinessOf(child);
  log.info({ reference: child.pid }, 'the reference service is started');
  child.once('exit', (code, signal) => {
    if (lifecycle.phase === 'draining') return;
    const how = signal ?? `exit code ${code}`;
    throw new Error(`the reference service ended unexpectedly; the gateway cannot go on without it (${how})`);
  });
  return { url, stop: (forced) => stop(child, forced) };
}

/** The service's URL, when it is ready. Throws if it ends before. */
async function readinessOf(child: ChildProcess): Promise<URL> {
  // Under `node --watch`, Node sends other messages first.
  for await (const [message] of on(child, 'message', { close: ['exit'] })) {
    if (isJson(message) && typeof message['url'] === 'string') return new URL(message['url']);
  }
  throw new ReferenceFailed(
    `The reference service ended before it was ready (exit code ${child.exitCode}); its reason is above. To use one that ` +
      'runs already, set REST_BASE_URL, for example to http://127.0.0.1:4100.',
  );
}

/** Disconnects, which ends the service, and waits. When `forced` aborts, it is killed: acknowledged writes are stored. */
async function stop(child: ChildProcess, forced: AbortSignal): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  forced.addEventListener('abort', () => child.kill('SIGKILL'), { once: true });
  if (forced.aborted) child.kill('SIGKILL');
  else if (child.connected) child.disconnect();
  await gone;
}
