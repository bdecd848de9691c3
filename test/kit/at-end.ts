import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach } from '@jest/globals';

/* What the kit starts in a test ends with the test; what it starts elsewhere ends with the file. */

type CleanUp = () => unknown;
const ofFile: CleanUp[] = [];
const ofTest: CleanUp[] = [];
let current = ofFile;

/** Registers a clean-up. The last one runs first. */
export const atEnd = (cleanUp: CleanUp) => void current.push(cleanUp);

/** Runs all of them, then throws the first error. */
async function run(cleanUps: CleanUp[]): Promise<void> {
  const errors: unknown[] = [];
  for (const cleanUp of cleanUps.splice(0).reverse()) {
    await Promise.resolve()
      .then(cleanUp)
      .catch((error) => errors.push(error));
  }
  if (errors.length > 0) throw errors[0];
}
beforeEach(() => {
  current = ofTest;
});
afterEach(() => {
  current = ofFile;
  return run(ofTest);
});
afterAll(() => run(ofFile));

/** A folder that is removed at the end. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'test-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes a text, or JSON, into a file that is removed at the end; returns its path. */
export function newFile(name: string, content: unknown, folder = newFolder()): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content));
  return path;
}
