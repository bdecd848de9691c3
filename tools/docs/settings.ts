import type * as z from 'zod';
import { texts } from '../../src/config/forms.ts';
import { ALSO_IN_FILES, VARIABLES } from '../../src/config/variables.ts';

/** The markers around the tables in docs/configuration.md. */
const BEGIN = '<!-- settings: written by `npm run docs` -->';
const END = '<!-- end of settings -->';

/** The heading above a variable and those after it. */
const HEADINGS: Partial<Record<keyof typeof VARIABLES.shape, string>> = {
  NODE_ENV: 'Mode and addresses',
  REST_BASE_URL: 'The REST service and the way to it',
  JWT_JWKS_URL: 'Tokens',
  FEDERATION: 'Browsers, proxies, federation',
  REDIS_URL: 'Redis',
  PLAYER_IDS: 'Personal data and the log',
  KEEP_ALIVE_TIMEOUT_MS: 'Connections and the end of the process',
  PERSISTED_OPERATIONS: 'Persisted operations',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'Traces',
  MAX_CONCURRENT_OPERATIONS: 'Limits',
};
const HEAD = '| variable | form | default | meaning |\n|---|---|---|---|';

/** The document with up-to-date tables of variables. */
export function withSettings(document: string): string {
  const [before, rest] = document.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error(`The document has no place for the settings: ${BEGIN} … ${END}`);
  const headings: Partial<Record<string, string>> = HEADINGS;
  const rows = Object.entries(VARIABLES.shape).map(([name, form]) => {
    const names = ALSO_IN_FILES.includes(name) ? `\`${name}\`, \`${name}_FILE\`` : `\`${name}\``;
    // What is made of a list has no description of its own.
    const { description = texts.description } = form.unwrap();
    const row = `| ${names} | ${description} | ${defaultOf(form)} | ${form.description} |`;
    return headings[name] ? `\n## ${headings[name]}\n\n${HEAD}\n${row}` : row;
  });
  return `${before}${BEGIN}\n${rows.join('\n')}\n\n${END}${after}`;
}

function defaultOf(form: z.ZodType): string {
  const value = 'defaultValue' in form.def ? String(form.def.defaultValue) : '';
  return value && `\`${value}\``;
}
