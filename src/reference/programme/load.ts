import { readFileSync } from 'node:fs';
import { OperatorError } from '../errors.ts';
import { DEFAULT_PROGRAMME } from './default.ts';
import { type Programme, programme } from './schema.ts';

/**
 * Reads the programme from a file; without a path, the built-in programme. Throws an OperatorError with one line for each
 * problem, with its path.
 */
export function loadProgramme(path: string | undefined): Programme {
  if (path === undefined) return programme.parse(DEFAULT_PROGRAMME);
  const result = programme.safeParse(readFile(path));
  if (result.success) return result.data;
  const lines = result.error.issues.map((issue) => `  ${pathOf(issue.path)}: ${issue.message}`);
  throw new OperatorError([`The programme in ${path} cannot be used:`, ...lines].join('\n'));
}

function readFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorError(`The programme in ${path} cannot be read: ${reason}`);
  }
}

/** For example `groups[2].coupon.type`. */
function pathOf(path: PropertyKey[]): string {
  const written = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  return written.replace(/^\./, '') || 'the file';
}
