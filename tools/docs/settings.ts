import type * as z from 'zod';
import { texts } from '../../src/config/forms.ts';
import { ALSO_IN_FILES, VARIABLES } from '../../src/config/variables.ts';

/** The markers around the table in docs/configuration.md. */
const BEGIN = '<!-- settings: written by `npm run docs` -->';
const END = '<!-- end of settings -->';

/** The document with an up-to-date table of variables. */
export function withSettings(document: string): string {
  const [before, rest] = document.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error(`The document has no place for the settings: ${BEGIN} … ${END}`);
  const rows = Object.entries(VARIABLES.shape).map(([name, form]) => {
    const names = ALSO_IN_FILES.includes(name) ? `\`${name}\`, \`${name}_FILE\`` : `\`${name}\``;
    // What is made of a list has no description of its own.
    const { description = texts.description } = form.unwrap();
    return `| ${names} | ${description} | ${defaultOf(form)} | ${form.description} |`;
  });
  const table = ['| variable | form | default | |', '|---|---|---|---|', ...rows].join('\n');
  return `${before}${BEGIN}\n${table}\n${END}${after}`;
}

function defaultOf(form: z.ZodType): string {
  const value = 'defaultValue' in form.def ? String(form.def.defaultValue) : '';
  return value && `\`${value}\``;
}
