import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { atEnd, newFolder } from './at-end.ts';

const MAIN = fileURLToPath(new URL('../../dist/reference/main.js', import.meta.url));
const KEYS = { REST_API_KEY: 'an-api-key', REST_SECRET_KEY: 'a-secret-key' };

/** Starts the shipped reference service on a free port, with a store and demo players of its own. `url` is the host part. */
export async function startReference(more: Record<string, string> = {}) {
  const settings = { REFERENCE_PORT: '0', REFERENCE_LANDING_PER_MINUTE: '0', DATA_DIR: newFolder() };
  const env = { PATH: process.env['PATH'], ...settings, ...KEYS, ...more };
  const child = fork(MAIN, ['--demo'], { env });
  const gone = once(child, 'exit');
  const ended = gone.then(() => Promise.reject(new Error('The reference service ended before it was ready')));
  const [{ url }] = await Promise.race([once(child, 'message'), ended]);
  ended.catch(() => {});
  atEnd(() => child.kill('SIGTERM') && gone);
  return { url: String(url), apiKey: KEYS.REST_API_KEY, secretKey: KEYS.REST_SECRET_KEY };
}
