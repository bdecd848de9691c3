import { visit } from 'jsonc-parser';
import { type Refusal, unreadable } from '../errors.ts';
import { textProblem } from './text.ts';

/** How deep objects and arrays may stand in each other; the interface needs five levels. */
const MAX_DEPTH = 32;

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads a request's body. Throws a Refusal when it is not UTF-8 or not JSON, or when storing it would change it: a name
 * that is repeated, a text that no database keeps, a number beyond what a double holds.
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
 * Looks at the text itself, because `JSON.parse` keeps only the last of members with one name and so hides what was
 * repeated. It goes first because it also bounds the depth.
 */
function inspect(text: string): void {
  /** The names seen so far, of each object around the current place; an array has none. */
  const open: (Set<string> | undefined)[] = [];
  const enter = (names: Set<string> | undefined) => {
    if (open.push(names) > MAX_DEPTH) throw unreadable(`The body has more than ${MAX_DEPTH} levels`);
  };
  visit(text, {
    onObjectBegin: () => enter(new Set()),
    onObjectEnd: () => void open.pop(),
    onArrayBegin: () => enter(undefined),
    onArrayEnd: () => void open.pop(),
    onObjectProperty: (name) => {
      const names = open.at(-1);
      const problem = names?.has(name) ? 'is repeated' : nameProblem(name);
      if (problem) throw refuseName(name, problem);
      names?.add(name);
    },
    onLiteralValue: (value: unknown) => {
      const problem = literalProblem(value);
      if (problem) throw unreadable(`A value of the body ${problem}`);
    },
  });
}

/** `__proto__` is no name that a client means, and a trap for every program that copies members. */
function nameProblem(name: string): string | undefined {
  return name === '__proto__' ? 'is not allowed' : textProblem(name);
}

function refuseName(name: string, problem: string): Refusal {
  return unreadable(`The member ${JSON.stringify(name.slice(0, 100)).toWellFormed()} ${problem}`);
}

function literalProblem(value: unknown): string | undefined {
  if (typeof value === 'string') return textProblem(value);
  if (typeof value === 'number' && !Number.isFinite(value)) return 'is a number that is too large';
  return undefined;
}
