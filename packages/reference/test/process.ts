import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { atEnd } from '../../../test/kit/at-end.ts';
import { clientOf, KEYS } from './client.ts';
import { CONTACT_HASH_KEY, type Place } from './kit.ts';

const MAIN = fileURLToPath(new URL('../../../dist/reference/main.js', import.meta.url));

/** The environment of a service that keeps its data at a place, on a free port. */
export function environmentOf({ databaseUrl, dataDir }: Place): NodeJS.ProcessEnv {
  const keys = { REST_API_KEY: KEYS.APIKey, REST_SECRET_KEY: KEYS.secretKey };
  const settings = {
    PATH: process.env['PATH'],
    REFERENCE_PORT: '0',
    REFERENCE_OPERATOR_PORT: '0',
    REFERENCE_LANDING_PER_MINUTE: '0',
    DATA_DIR: dataDir,
    CONTACT_HASH_KEY,
  };
  return { ...keys, ...settings, ...(databaseUrl && { DATABASE_URL: databaseUrl }) };
}

/** It is killed after the test at the latest. */
function watched<Child extends ChildProcess>(child: Child): Child {
  atEnd(() => (child.exitCode ?? child.signalCode) === null && end(child, 'SIGKILL'));
  return child;
}

/** Starts the program like a person or a container does. */
export const spawnReference = (env: NodeJS.ProcessEnv) => watched(spawn(process.execPath, [MAIN], { env }));

/** Starts the program like the gateway does: it reports to its parent when it is ready. */
export const forkChild = (env: NodeJS.ProcessEnv, words: string[] = []) =>
  watched(fork(MAIN, words, { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }));

/** Runs a command of the program; returns its exit code and what it printed. */
export async function runCommand(env: NodeJS.ProcessEnv, ...words: string[]) {
  const child = watched(spawn(process.execPath, [MAIN, ...words], { env }));
  const gone = once(child, 'exit');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: (await gone)[0], stdout, stderr };
}

/** Sends a signal and waits until the process is gone; returns its exit code, or the signal that ended it. */
export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | NodeJS.Signals> {
  const gone = once(child, 'exit');
  child.kill(signal);
  const [code, by] = await gone;
  return code ?? by;
}

/** Starts the program like the gateway does, and waits until it is ready. */
export async function forkReference(env: NodeJS.ProcessEnv, words: string[] = []) {
  const child = forkChild(env, words);
  const gone = once(child, 'exit').then(() => Promise.reject(new Error('It ended before it was ready')));
  const [{ url, operatorUrl }] = await Promise.race([once(child, 'message'), gone]);
  gone.catch(() => {});
  const client = clientOf(
    () => url,
    () => operatorUrl,
  );
  const port = new URL(operatorUrl).port;
  return { child, url: String(url), operatorPort: port, client, end: (signal: NodeJS.Signals) => end(child, signal) };
}
