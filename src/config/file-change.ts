import { statSync } from 'node:fs';

/** How often a file is looked at, in milliseconds. */
const LOOK_EVERY_MS = 1_000;

/**
 * Calls `changed` after a file has changed, within a second or so. To be called before the file is read for the first time:
 * what counts is any change from now on, which node:fs's `watchFile` would miss until its own first look, made later.
 */
export function onFileChange(path: string, changed: () => void): void {
  let seen = stampOf(path);
  setInterval(() => {
    const stamp = stampOf(path);
    if (stamp === seen) return;
    seen = stamp;
    changed();
  }, LOOK_EVERY_MS).unref();
}

/** What differs when a file was written or replaced; undefined for a file that cannot be looked at. */
function stampOf(path: string): string | undefined {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch {
    return undefined;
  }
}
