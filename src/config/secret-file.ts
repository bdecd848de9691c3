import { readFileSync } from 'node:fs';
import { onFileChange } from './file-change.ts';
import { Secret } from './secret.ts';

/** Returns the current secret: a secret in a file can change while the process runs. */
export type SecretSource = () => Secret;

/**
 * A secret in a file, without the line break at its end. Throws when the file cannot be read now. When it cannot be read
 * later (it is being replaced), or is empty then, the last value stays valid.
 */
export function secretFromFile(path: string): SecretSource {
  let current: Secret;
  onFileChange(path, () => {
    try {
      current = readSecret(path);
    } catch {
      // The file is missing or empty while it is being replaced; the next change is read again.
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
