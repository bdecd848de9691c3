import { type ChildProcess, fork } from 'node:child_process';
import { on, once } from 'node:events';
import type { FastifyBaseLogger } from 'fastify';
import * as z from 'zod';
import type { Lifecycle, Stoppable } from './lifecycle.ts';

/** The reference service, which runs in its own process. */
export interface ReferenceProcess extends Stoppable {
  /** Its base URL, in the form of REST_BASE_URL. */
  url: URL;
}

/** The reference service did not start. The message says what to do. */
export class ReferenceFailed extends Error {}

const READY = z.object({ ready: z.literal(true), url: z.string().transform((text) => new URL(text)) });

/**
 * Starts the reference service, for development without a REST service. The two programs share only the environment and
 * the wire contract. When the reference service ends unexpectedly, the gateway ends too.
 */
export async function startReference(lifecycle: Lifecycle, log: FastifyBaseLogger): Promise<ReferenceProcess> {
  const child = fork(new URL('./reference/main.js', import.meta.url), ['--demo'], {
    // The reference service must not have our stdout; see `openStdout`.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  child.stdout?.pipe(process.stderr, { end: false });
  child.stderr?.pipe(process.stderr, { end: false });
  const { url } = await Promise.race([readinessOf(child), exitOf(child)]);
  log.info({ reference: child.pid }, 'the reference service is started');
  child.once('exit', (code, signal) => {
    if (lifecycle.phase === 'draining') return;
    log.fatal({ code, signal }, 'the reference service ended unexpectedly; the gateway cannot go on without it');
    lifecycle.end('the reference service ended', 1);
  });
  return { url, stop: (hurry) => stop(child, hurry) };
}

/** Waits for the message that the service is ready. Under `node --watch`, Node sends other messages before that. */
async function readinessOf(child: ChildProcess): Promise<z.infer<typeof READY>> {
  for await (const [message] of on(child, 'message')) {
    const { data } = READY.safeParse(message);
    if (data) return data;
  }
  throw new Error('The reference service never said that it is ready.');
}

async function exitOf(child: ChildProcess): Promise<never> {
  const [code] = await once(child, 'exit');
  throw new ReferenceFailed(
    `The reference service ended before it was ready (exit code ${code}); its reason is above. To use one that runs ` +
      'already, set REST_BASE_URL, for example to http://127.0.0.1:4100.',
  );
}

/** Sends SIGTERM and waits for the exit. When `hurry` aborts, the service is killed: acknowledged writes are stored. */
async function stop(child: ChildProcess, hurry: AbortSignal): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(hurry.aborted ? 'SIGKILL' : 'SIGTERM');
  hurry.addEventListener('abort', () => child.kill('SIGKILL'), { once: true });
  await gone;
}
