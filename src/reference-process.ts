import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';

/** The reference service, running in a process of its own. */
export interface ReferenceProcess {
  /** Its host part, as REST_BASE_URL would name it. */
  url: URL;
  /** Lets it finish what it does and waits until it is gone. */
  close(): Promise<void>;
}

const READY = z.object({ ready: z.literal(true), url: z.string().transform((text) => new URL(text)) });

/**
 * Starts the reference service beside the gateway, for machines that have no REST service of their own. The two share
 * nothing but the environment and the wire: what comes back is a URL.
 */
export async function startReference(): Promise<ReferenceProcess> {
  const child = fork(new URL('./reference/main.js', import.meta.url), ['--demo'], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [message] = await Promise.race([once(child, 'message'), exitOf(child)]);
  return { url: READY.parse(message).url, close: () => stop(child) };
}

async function exitOf(child: ChildProcess): Promise<never> {
  const [code] = await once(child, 'exit');
  throw new Error(`The reference service ended before it was ready (exit code ${code}); the reason stands above.`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}
