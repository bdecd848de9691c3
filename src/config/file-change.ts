import { statSync } from 'node:fs';

/** How often a file is checked, in milliseconds. */
const POLL_MS = 1_000;

/**
 * Calls `changed` within about a second after a file has changed. Call this before the first read of the file: node:fs's
 * `watchFile` would miss a change between that read and its own first check.
 */
export function onFileChange(path: string, changed: () => void): void {
  onFilesChange(() => [path], changed);
}

/** The same for several files. `files` is called at each check, so that it can list what a folder has then. */
export function onFilesChange(files: () => readonly string[], changed: () => void): void {
  let seen = stampOfAll(files);
  setInterval(() => {
    const stamp = stampOfAll(files);
    if (stamp === seen) return;
    seen = stamp;
    changed();
  }, POLL_MS).unref();
}

/** A value that changes with any of the files, and with their list; undefined when that cannot be read. */
function stampOfAll(files: () => readonly string[]): string | undefined {
  try {
    return files()
      .map((path) => `${path} ${stampOf(path)}`)
      .join('\n');
  } catch {
    return undefined;
  }
}

/** A value that changes when the file is written or replaced; undefined when the file cannot be read. */
function stampOf(path: string): string | undefined {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch {
    return undefined;
  }
}
