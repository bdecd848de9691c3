import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../dist/reference/main.js', import.meta.url));
const KEYS = { apiKey: 'an-api-key', secretKey: 'a-secret-key' };

export interface RunningReference {
  /** The host part, without `/api/v3.0`. */
  url: string;
  apiKey: string;
  secretKey: string;
  close(): Promise<void>;
}

/**
 * Starts the reference service that is shipped, on a free port and an empty store of its own.
 * @param demo Whether the store is filled with the demo players.
 */
export async function startReference({ demo = false } = {}): Promise<RunningReference> {
  const dataDir = await mkdtemp(join(tmpdir(), 'reference-'));
  const child = fork(MAIN, demo ? ['--demo'] : [], {
    env: {
      PATH: process.env['PATH'],
      REFERENCE_PORT: '0',
      REFERENCE_LANDING_PER_MINUTE: '0',
      DATA_DIR: dataDir,
      REST_API_KEY: KEYS.apiKey,
      REST_SECRET_KEY: KEYS.secretKey,
    },
  });
  const gone = once(child, 'exit');
  const ended = gone.then(() => Promise.reject(new Error('The reference service ended before it was ready')));
  const [{ url }] = await Promise.race([once(child, 'message'), ended]);
  ended.catch(() => {});
  return {
    url,
    ...KEYS,
    async close() {
      child.kill('SIGTERM');
      await gone;
      await rm(dataDir, { recursive: true });
    },
  };
}
