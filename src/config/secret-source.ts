import { readFileSync } from 'node:fs';
import { onFileChange } from './file-change.ts';
import { Secret } from './secret.ts';

/** A secret of the configuration. A secret in a file can change while the process runs. */
export class SecretSource {
  #current: Secret;
  readonly #listeners: (() => void)[] = [];

  constructor(value: string) {
    this.#current = new Secret(value);
  }

  get current(): Secret {
    return this.#current;
  }

  /** Replaces the secret. */
  change(value: string): void {
    this.#current = new Secret(value);
    for (const changed of this.#listeners) changed();
  }

  /** Calls `changed` after each change. */
  onChange(changed: () => void): void {
    this.#listeners.push(changed);
  }
}

/**
 * A secret in a file, without the line break at its end. Throws when the file cannot be read now. When it cannot be read
 * later (it is being replaced), or is empty then, the last value stays valid.
 */
export function secretFromFile(path: string): SecretSource {
  let source: SecretSource | undefined;
  onFileChange(path, () => {
    try {
      source?.change(readSecret(path));
    } catch {
      // The file is missing or empty while it is being replaced; the next change is read again.
    }
  });
  source = new SecretSource(readSecret(path));
  return source;
}

function readSecret(path: string): string {
  const text = readFileSync(path, 'utf8').trimEnd();
  if (text === '') throw new Error('it is empty');
  return text;
}
