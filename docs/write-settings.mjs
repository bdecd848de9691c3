/* `npm run docs` writes the table of settings into docs/configuration.md; with `--check` it fails if the table is out of date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { ALSO_IN_FILES, VARIABLES } from '../dist/config/variables.js';

const DOCUMENT = 'docs/configuration.md';
const BEGIN = '<!-- settings: written by `npm run docs` -->';
const END = '<!-- end of settings -->';

/** The document with an up-to-date table of variables. */
function withSettings(document) {
  const [before, rest] = document.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error(`${DOCUMENT} has no place for the settings: ${BEGIN} … ${END}`);
  const rows = Object.entries(VARIABLES.shape).map(([name, form]) => {
    const names = ALSO_IN_FILES.includes(name) ? `\`${name}\`, \`${name}_FILE\`` : `\`${name}\``;
    const value = 'defaultValue' in form.def ? String(form.def.defaultValue) : '';
    return `| ${names} | ${form.unwrap().description} | ${value && `\`${value}\``} | ${form.description} |`;
  });
  return `${before}${BEGIN}\n${['| variable | form | default | |', '|---|---|---|---|', ...rows].join('\n')}\n${END}${after}`;
}

const isCheck = process.argv[2] === '--check';
if (process.argv.length > (isCheck ? 3 : 2)) throw new Error('The only option is --check.');
const document = readFileSync(DOCUMENT, 'utf8');
if (!isCheck) writeFileSync(DOCUMENT, withSettings(document));
else if (withSettings(document) !== document) throw new Error(`${DOCUMENT} is out of date: npm run docs`);
