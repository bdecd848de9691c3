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
 * repeated name, text that a database cannot store, a number that a double cannot hold. The message names the member.
 */
export function readJson(body: Buffer): unknown {
  let text: string;
  try {
    text = UTF8.decode(body);
  } catch {
    throw unreadable('The body is not UTF-8');
  }
  inspect(text);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw unreadable(`The body is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/**
 * Checks the text itself, because `JSON.parse` keeps only the last of members with the same name. Runs before it,
 * because it also limits the depth.
 */
function inspect(text: string): void {
  /** The member names of each open object or array; those of arrays stay empty. */
  const open: Set<string>[] = [];
  const enter = () => {
    if (open.push(new Set()) > MAX_DEPTH) throw unreadable(`The body has more than ${MAX_DEPTH} levels`);
  };
  const leave = () => void open.pop();
  const refuse = (path: readonly PropertyKey[], problem: string | undefined) => {
    if (problem === undefined) return;
    const member = JSON.stringify(path.map(String).join('.').slice(0, MAX_SHOWN)).toWellFormed();
    throw unreadable(`${path.length === 0 ? 'The body' : `The member ${member}`} ${problem}`);
  };
  visit(text, {
    ...{ onObjectBegin: enter, onArrayBegin: enter, onObjectEnd: leave, onArrayEnd: leave },
    onObjectProperty: (name, _offset, _length, _line, _character, path) => {
      const names = open.at(-1);
      // `__proto__` is never the name of a real member, and is dangerous for every program that copies members.
      const problem = name === '__proto__' ? 'is not allowed' : textProblem(name);
      if (problem || names?.has(name)) refuse([...path(), name], problem ?? 'is repeated');
      names?.add(name);
    },
    onLiteralValue: (value: unknown, offset, length, _line, _character, path) => {
      if (typeof value === 'string' && textProblem(value)) refuse(path(), textProblem(value));
      if (typeof value === 'number' && !isExact(value, text.slice(offset, offset + length))) {
        refuse(path(), 'is a number that cannot be stored exactly; send it as text');
      }
    },
  });
}

/** Significant digits that every fraction keeps as a double, and those with which programs print a double. */
const [KEPT_DIGITS, PRINTED_DIGITS] = [15, 17];

/** Whether a double is the number that was written: a whole number exactly, a fraction as far as programs print doubles. */
function isExact(value: number, written: string): boolean {
  if (!Number.isFinite(value)) return false;
  const isShort = written.length <= KEPT_DIGITS && !/e/i.test(written);
  if (isShort) return true;
  const [given, read] = [decimalOf(written), decimalOf(String(value))];
  if (given.digits === read.digits && given.exponent === read.exponent) return true;
  return !Number.isInteger(value) && given.digits.length <= PRINTED_DIGITS;
}

/** The significant digits of a number, and the power of ten of the last one. */
function decimalOf(number: string): { digits: string; exponent: number } {
  const [mantissa = '', power = '0'] = number.replace('-', '').toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const all = (whole + fraction).replace(/^0+/, '');
  // Not by an expression: it would look at each zero of a long number again.
  let end = all.length;
  while (all[end - 1] === '0') end--;
  const digits = all.slice(0, end);
  return { digits, exponent: digits === '' ? 0 : Number(power) - fraction.length + all.length - digits.length };
}
