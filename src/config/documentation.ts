import * as z from 'zod';
import { type Setting, settingsOf } from './setting.ts';
import { SETTINGS } from './settings.ts';

/** The markers around the table in docs/configuration.md. */
const BEGIN = '<!-- settings: written by `npm run docs` -->';
const END = '<!-- end of settings -->';

/** The document with an up-to-date table of settings. */
export function withSettings(document: string): string {
  const [before, rest] = document.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error(`The document has no place for the settings: ${BEGIN} … ${END}`);
  return `${before}${BEGIN}\n${settingsTable()}\n${END}${after}`;
}

function settingsTable(): string {
  const rows = settingsOf(SETTINGS).map(({ name, form, isSecret, about }) => {
    const names = isSecret ? `\`${name}\`, \`${name}_FILE\`` : `\`${name}\``;
    return `| ${names} | ${isSecret ? 'secret' : describe(form)} | ${defaultOf(form)} | ${about} |`;
  });
  return ['| variable | form | default | |', '|---|---|---|---|', ...rows].join('\n');
}

/** The description of a form: its own, or that of the form inside a default or optional form. */
function describe(form: z.core.$ZodType): string {
  const { description } = z.globalRegistry.get(form) ?? {};
  if (description !== undefined) return description;
  if (form instanceof z.ZodDefault || form instanceof z.ZodOptional) return describe(form.unwrap());
  throw new TypeError('A form of a setting has no description.');
}

function defaultOf(form: Setting['form']): string {
  const value = form.parse(undefined);
  return value === undefined || (Array.isArray(value) && value.length === 0) ? '' : `\`${String(value)}\``;
}
