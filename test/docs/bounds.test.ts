import { readdirSync, readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { VARIABLES } from '../../src/config/variables.ts';

/* The tables of docs/limits.md. bounds.md is their template; it says what its terms mean. */
const ROOT = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');
const calculate = (formula: string): number => runInNewContext(formula);

const known: Record<string, unknown> = VARIABLES.parse({});
for (const [path, pattern] of [
  ['src/limits/rate-limits.ts', /limits\('', .* (?<documents>[\d_]+)\)/],
  ['src/limits/rate-limits.ts', /limits\('server-', .* (?<serverDocuments>[\d_]+)\)/],
  ['test/bench/cost.mjs', /MAX_UNIT_MS = (?<unitMs>[\d.]+);/],
  ['test/bench/cost.mjs', /MAX_TOKENLESS_MS = (?<tokenlessMs>[\d.]+);/],
] as const) {
  for (const [name, text] of Object.entries(pattern.exec(read(path))?.groups ?? {})) known[name] = calculate(text);
}

/** A number by its name, or what follows the name and an equals sign, a colon or a comma below a folder: `64 * 1_024`. */
function numberOf(term: string): number {
  if (term in known) return Number(known[term]);
  const [name = '', folder = 'src'] = term.split(':').reverse();
  const files = readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' });
  const source = files.map((file) => (file.endsWith('.ts') ? read(`${folder}/${file}`) : '')).join('\n');
  const assigned = new RegExp(`(?<![.\\w])${name}(?: =|:|',) ([\\d.][\\d._]*(?: [*/] \\d[\\d_]*)*)`, 'g');
  const numbers = [...source.matchAll(assigned)].map(([, formula = '']) => calculate(formula));
  // A counter begins with 0.
  const [number = 0, ...others] = new Set(numbers.filter((one) => one > 0));
  if (number === 0 || others.length > 0) throw new Error(`${folder} has the numbers ${name} = ${[number, ...others]}`);
  return number;
}

const evaluate = (expression: string) =>
  calculate(expression.replace(/[^\s*+\d.][^\s*+]*/g, (term) => String(numberOf(term))));
const whole = (expression: string) => evaluate(expression).toLocaleString('en-US');
const UNITS: Record<string, (what: string) => string> = {
  whole,
  seconds: (what) => `${evaluate(what) / 1_000} s`,
  size(what) {
    const bytes = evaluate(what);
    if (bytes >= 1_048_576) return `${bytes / 1_048_576} MB`;
    return bytes >= 16_384 ? `${bytes / 1_024} KB` : `${whole(what)} bytes`;
  },
  rate: (of) => `${whole(`MAX_${of}_PER_SECOND`)} a second, burst ${whole(`MAX_${of}_BURST`)}`,
  directive(what) {
    const [name, index = 0] = what.split(' ');
    const values = new RegExp(`^ *${name} ([^;]+);`, 'm').exec(read('deploy/nginx.conf'))?.[1]?.split(' ');
    return `${values?.[Number(index)]}`.replace(/s$/, ' s').replace(/k$/, ' KB');
  },
};

test('the tables of bounds in docs/limits.md have the figures of the program', () => {
  const [, template = ''] = read('test/docs/bounds.md').split('\n\n');
  const filled = template.replace(/\{(\w+) ([^}]+)\}/g, (_all, unit, what) => `${UNITS[unit]?.(what)}`);
  const [, section = ''] = read('docs/limits.md').split('\n## Limits of the edge and of the gateway\n');
  const rows = section.split('\n## ')[0]?.match(/^\| (?!(?:who|token) \|).*$/gm);
  expect(rows).toEqual(filled.trim().split('\n'));
});
