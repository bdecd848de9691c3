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
 * Starts the reference service beside the gateway, for development without a REST service. The two share nothing but the
 * environment and the wire contract. When it ends unexpectedly, the gateway ends too.
 */
export async function startReference(lifecycle: Lifecycle, log: FastifyBaseLogger): Promise<ReferenceProcess> {
  const child = fork(new URL('./reference/main.js', import.meta.url), ['--demo'], {
    // Not inherited: see openStdout.
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

/** The message that says it is ready. Under `node --watch`, Node sends messages of its own before that. */
async function readinessOf(child: ChildProcess): Promise<z.infer<typeof READY>> {
  for await (const [message] of on(child, 'message')) {
    const { data } = READY.safeParse(message);
    if (data) return data;
  }
  throw new Error('The reference service never said that it is ready.');
}

async function exitOf(child: ChildProcess): Promise<never> {
  const [code] = await once(child, 'exit');
  throw new Error(`The reference service ended before it was ready (exit code ${code}); see the log above.`);
}

/** Lets it finish and waits until it has ended; in a hurry it is killed: what it acknowledged is stored. */
async function stop(child: ChildProcess, hurry: AbortSignal): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(hurry.aborted ? 'SIGKILL' : 'SIGTERM');
  hurry.addEventListener('abort', () => child.kill('SIGKILL'), { once: true });
  await gone;
}
