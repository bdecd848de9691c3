import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { post } from './gateway.ts';
import { startProcess } from './process.ts';

/** What `npm start` gives a newcomer: the built gateway, which starts the reference service with its demo players. */
export async function startDemo() {
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'demo-'));
  const { child, ended, url } = await startProcess({ REFERENCE_PORT: '0', DATA_DIR });
  return {
    url,
    query: (query: string, variables?: Record<string, unknown>) => post(url, { query, variables }),
    async close() {
      child.kill('SIGTERM');
      await ended;
      await rm(DATA_DIR, { recursive: true });
    },
  };
}
