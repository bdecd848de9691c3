import { type ChildProcess, fork } from 'node:child_process';
import { on, once } from 'node:events';
import type { FastifyBaseLogger } from 'fastify';
import * as z from 'zod';
import type { Lifecycle, Stoppable } from './lifecycle.ts';

/** The reference service, running in a process of its own. */
export interface ReferenceProcess extends Stoppable {
  /** Its host part, as REST_BASE_URL would name it. */
  url: URL;
}

const READY = z.object({ ready: z.literal(true), url: z.string().transform((text) => new URL(text)) });

/**
 * Starts the reference service beside the gateway, for machines that have no REST service of their own. The two share
 * nothing but the environment and the wire: what comes back is a URL. Without it the gateway is of no use, so when it
 * ends unexpectedly the gateway ends too.
 */
export async function startReference(lifecycle: Lifecycle, log: FastifyBaseLogger): Promise<ReferenceProcess> {
  const child = fork(new URL('./reference/main.js', import.meta.url), ['--demo'], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const { url } = await Promise.race([readinessOf(child), exitOf(child)]);
  log.info({ reference: child.pid }, 'the reference service runs beside the gateway');
  child.once('exit', (code, signal) => {
    if (lifecycle.phase === 'draining') return;
    log.fatal({ code, signal }, 'the reference service ended unexpectedly; the gateway cannot go on without it');
    lifecycle.end('the reference service ended', 1);
  });
  return { url, stop: (hurry) => stop(child, hurry) };
}

/** What it tells once it is ready. Under `node --watch` a child process sends messages of Node's own before that. */
async function readinessOf(child: ChildProcess): Promise<z.infer<typeof READY>> {
  for await (const [message] of on(child, 'message')) {
    const { data } = READY.safeParse(message);
    if (data) return data;
  }
  throw new Error('It never tells that it is ready.');
}

async function exitOf(child: ChildProcess): Promise<never> {
  const [code] = await once(child, 'exit');
  throw new Error(`The reference service ended before it was ready (exit code ${code}); the reason stands above.`);
}

/** Lets it finish what it does and waits until it is gone; in a hurry it is killed, what it acknowledged is stored. */
async function stop(child: ChildProcess, hurry: AbortSignal): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(hurry.aborted ? 'SIGKILL' : 'SIGTERM');
  hurry.addEventListener('abort', () => child.kill('SIGKILL'), { once: true });
  await gone;
}
