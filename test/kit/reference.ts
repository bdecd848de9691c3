import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../dist/reference/main.js', import.meta.url));
const KEYS = { REST_API_KEY: 'an-api-key', REST_SECRET_KEY: 'a-secret-key' };

/** Starts the reference service that is shipped, on a free port and a store of its own with the demo players. */
export async function startReference() {
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'reference-'));
  const env = { PATH: process.env['PATH'], REFERENCE_PORT: '0', REFERENCE_LANDING_PER_MINUTE: '0', DATA_DIR, ...KEYS };
  const child = fork(MAIN, ['--demo'], { env });
  const gone = once(child, 'exit');
  const ended = gone.then(() => Promise.reject(new Error('The reference service ended before it was ready')));
  const [{ url }] = await Promise.race([once(child, 'message'), ended]);
  ended.catch(() => {});
  return {
    /** The host part, without `/api/v3.0`. */
    url: String(url),
    apiKey: KEYS.REST_API_KEY,
    secretKey: KEYS.REST_SECRET_KEY,
    async close() {
      child.kill('SIGTERM');
      await gone;
      await rm(DATA_DIR, { recursive: true });
    },
  };
}
