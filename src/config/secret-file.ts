import { readFileSync } from 'node:fs';
import { onFileChange } from './file-change.ts';
import { Secret } from './secret.ts';

/** A secret as it is now: one that stands in a file can change while the process runs. */
export type SecretSource = () => Secret;

/**
 * A secret that stands in a file, without the line break at its end. Throws when the file cannot be read now; when it
 * cannot be read later (it is being replaced), or is empty then, the last value stays.
 */
export function secretFromFile(path: string): SecretSource {
  let current: Secret;
  onFileChange(path, () => {
    try {
      current = readSecret(path);
    } catch {
      // The file is gone or empty for the moment; the next change brings it back.
    }
  });
  current = readSecret(path);
  return () => current;
}

function readSecret(path: string): Secret {
  const text = readFileSync(path, 'utf8').trimEnd();
  if (text === '') throw new Error('it is empty');
  return new Secret(text);
}
