import { visit } from 'jsonc-parser';
import { unreadable } from '../errors.ts';
import { textProblem } from './text.ts';

/** How deeply objects and arrays may be nested; the interface needs five levels. */
const MAX_DEPTH = 32;
/** How much of a name or path an error message shows, in characters. */
const MAX_SHOWN = 100;

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads the body of a request. Throws an ApiError if it is not UTF-8 or not JSON, or if storing it would change it: a
 * repeated name, text that a database cannot store, a number that is too large for a double. The message names the member.
 */
export function readJson(body: Buffer): unknown {
  const text = decode(body);
  inspect(text);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unreadable(`The body is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function decode(body: Buffer): string {
  try {
    return UTF8.decode(body);
  } catch {
    throw unreadable('The body is not UTF-8');
  }
}

/**
 * Checks the text itself, because `JSON.parse` keeps only the last of members with the same name. Runs before it, because
 * it also limits the depth.
 */
function inspect(text: string): void {
  /** The member names of each open object; undefined for an array. */
  const open: (Set<string> | undefined)[] = [];
  const enter = (names: Set<string> | undefined) => {
    if (open.push(names) > MAX_DEPTH) throw unreadable(`The body has more than ${MAX_DEPTH} levels`);
  };
  visit(text, {
    onObjectBegin: () => enter(new Set()),
    onObjectEnd: () => void open.pop(),
    onArrayBegin: () => enter(undefined),
    onArrayEnd: () => void open.pop(),
    onObjectProperty: (name, _offset, _length, _line, _character, path) => {
      const names = open.at(-1);
      const problem = names?.has(name) ? 'is repeated' : memberProblem(name);
      if (problem) throw unreadable(`${shown([...path(), name])} ${problem}`);
      names?.add(name);
    },
    onLiteralValue: (value: unknown, _offset, _length, _line, _character, path) => {
      const problem = valueProblem(value);
      if (problem) throw unreadable(`${shown(path())} ${problem}`);
    },
  });
}

/** `__proto__` is never the name of a real member, and is dangerous for every program that copies members. */
function memberProblem(name: string): string | undefined {
  return name === '__proto__' ? 'is not allowed' : textProblem(name);
}

/** For example `The member "playerAttributes.city"`. */
function shown(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'The body';
  const member = JSON.stringify(path.map(String).join('.').slice(0, MAX_SHOWN)).toWellFormed();
  return `The member ${member}`;
}

function valueProblem(value: unknown): string | undefined {
  if (typeof value === 'string') return textProblem(value);
  if (typeof value === 'number' && !Number.isFinite(value)) return 'is a number that is too large';
  return undefined;
}
