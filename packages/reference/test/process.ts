import { type ChildProcess, fork, spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Client, clientOf } from './client.ts';
import type { Place } from './stores.ts';

export const MAIN = new URL('../../../dist/reference/main.js', import.meta.url);
const KEYS = { apiKey: 'key-of-a-test', secretKey: 'secret-of-a-test' };

/** The environment of a service that keeps its data at a place, on a free port. */
export function environmentOf({ databaseUrl, dataDir }: Pick<Place, 'databaseUrl' | 'dataDir'>): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    REFERENCE_PORT: '0',
    REFERENCE_LANDING_PER_MINUTE: '0',
    REST_API_KEY: KEYS.apiKey,
    REST_SECRET_KEY: KEYS.secretKey,
    DATA_DIR: dataDir,
    ...(databaseUrl && { DATABASE_URL: databaseUrl }),
  };
}

export interface RunningProcess {
  child: ChildProcess;
  url: string;
  client: Client;
  /** Sends a signal and waits until the process is gone; gives its exit code, or the signal that ended it. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

const started: ChildProcess[] = [];

/** Kills processes that a failed test has left. */
export function killLeftovers(): void {
  for (const child of started.splice(0)) if (child.exitCode === null) child.kill('SIGKILL');
}

/** Has a process killed after the test, also if the test fails. */
export function killedAfterTest<Child extends ChildProcess>(child: Child): Child {
  started.push(child);
  return child;
}

/** Starts the service like the gateway does, in a process of its own that reports when it is ready. */
export async function forkReference(env: NodeJS.ProcessEnv, words: string[] = []): Promise<RunningProcess> {
  const child = killedAfterTest(fork(MAIN, words, { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] }));
  const errors: string[] = [];
  if (child.stderr) createInterface(child.stderr).on('line', (line) => errors.push(line));
  const gone = exitOf(child);
  const [message] = await Promise.race([
    once(child, 'message'),
    gone.then(() => Promise.reject(new Error(`It ended before it was ready: ${errors.join('\n')}`))),
  ]);
  return running(child, gone, message);
}

/** Starts the service like a person or a container does: it tells on stdout where it listens. */
export async function startAlone(env: NodeJS.ProcessEnv): Promise<RunningProcess> {
  const child = killedAfterTest(spawn(process.execPath, [fileURLToPath(MAIN)], { env }));
  const gone = exitOf(child);
  const lines = createInterface(child.stdout);
  for await (const [line] of on(lines, 'line', { close: ['close'] })) {
    if (!line.includes('"msg":"listening"')) continue;
    // The output goes on and must be read.
    lines.resume();
    return running(child, gone, JSON.parse(line));
  }
  throw new Error('It ended before it was ready');
}

async function exitOf(child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> {
  const [code, signal] = await once(child, 'exit');
  return [code, signal];
}

function running(
  child: ChildProcess,
  gone: Promise<[number | null, NodeJS.Signals | null]>,
  at: { url: string },
): RunningProcess {
  return {
    ...at,
    child,
    client: clientOf({ ...at, ...KEYS }),
    end: async (signal) => {
      child.kill(signal);
      const [code, by] = await gone;
      return code ?? by ?? 0;
    },
  };
}
