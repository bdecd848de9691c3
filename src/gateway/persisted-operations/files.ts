import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../../config/environment.ts';

/** The files of `PERSISTED_OPERATIONS_FILE`: the files it names, and every `*.json` directly in its folders. */
export function filesOf(paths: readonly string[]): string[] {
  return [...new Set(paths.flatMap(filesAt))];
}

function filesAt(path: string): string[] {
  if (!isFolder(path)) return [path];
  const names = readdirSync(path).filter((name) => name.endsWith('.json') && !name.startsWith('.'));
  return names.sort().map((name) => join(path, name));
}

function isFolder(path: string): boolean {
  // A path that is not there is reported when it is read.
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** The content of a file. Throws a ConfigError for one that cannot be read. */
export function readListFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw unusable([`${path}: the file cannot be read (${reason})`]);
  }
}

/** How many mistakes are reported at once. */
const MAX_REPORTED = 20;

/** The error for mistakes in the files, one sentence each, which begins with the file. */
export function unusable(problems: readonly string[]): ConfigError {
  const more = problems.length - MAX_REPORTED;
  const reported = more > 0 ? [...problems.slice(0, MAX_REPORTED), `and ${more} more`] : problems;
  return new ConfigError(reported.map((problem) => `PERSISTED_OPERATIONS_FILE: ${problem}`));
}
