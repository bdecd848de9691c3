import { atEnd, newFolder } from './at-end.ts';
import { post } from './post.ts';
import { startProcess } from './process.ts';

/** What `npm start` gives a newcomer: the built gateway, which starts the reference service with its demo players. */
export async function startDemo() {
  const { child, ended, url } = await startProcess({ REFERENCE_PORT: '0', DATA_DIR: newFolder() });
  // The reference service ends with it.
  atEnd(() => child.kill('SIGTERM') && ended);
  return { url, query: (query: string, variables?: Record<string, unknown>) => post(url, { query, variables }) };
}
