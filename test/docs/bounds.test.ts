import { readdirSync, readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { VARIABLES } from '../../src/config/variables.ts';

/*
 * The tables of docs/security.md about bounds, each figure as `{unit what}`: a default of the configuration, a constant of the
 * source (with its folder where the name occurs twice), or a directive of deploy/nginx.conf.
 */
const TABLES = `
| edge | connections of one address | {directive limit_conn 1} |
| edge | the head of a request; a pause in its body | {directive client_header_timeout}; {directive client_body_timeout} |
| edge | a pause in reading a response | {directive send_timeout} |
| edge | a body, which reaches the gateway when it is complete | {directive client_max_body_size} |
| gateway | the head of a request: its size, its headers, its time | {size maxHeaderSize}, {whole MAX_HEADERS}, {seconds src/http:headersTimeout} |
| gateway | a request; a pause in it; a connection between requests | {seconds REQUEST_MS}; {seconds OPERATION_TIMEOUT_MS + REQUEST_MS}; {seconds KEEP_ALIVE_TIMEOUT_MS} |
| gateway | missing and invalid tokens of one address | {rate FAILED_AUTHENTICATIONS} |
| gateway | verified tokens that are remembered | {whole MAX_REMEMBERED} |
| gateway | requests in flight, of all and of one caller | {whole MAX_CONCURRENT_OPERATIONS}, {whole MAX_CONCURRENT_OPERATIONS * CALLER_SHARE} |
| gateway | bytes of bodies, and of responses that wait to be sent, of all and of one caller | {size src/http:MAX_BYTES}, {size MAX_BYTES_OF_CALLER} |
| gateway | the event loop and the heap, beyond which requests are refused | {seconds src/http:MAX_EVENT_LOOP_DELAY_MS}, {whole MAX_HEAP_SHARE * 100} % |
| gateway | units of one caller | {rate OPERATIONS} |
| gateway | the same with \`any-player\` | {rate SERVER_OPERATIONS} |
| gateway | reads of coupons of one caller | {rate COUPON_READS} |
| gateway | the same with \`any-player\` | {rate SERVER_COUPON_READS} |
| gateway | new documents of one caller | {whole documents} a second, burst {whole documents * 5} |
| gateway | the same with \`any-player\` | {whole serverDocuments} a second, burst {whole serverDocuments * 5} |
| gateway | new idempotency keys of one caller in 24 hours, and with \`any-player\` | {whole keys}, {whole serverKeys} |
| gateway | idempotency keys in memory, without Redis | {whole src/graphql:MAX_KEYS} |
| gateway | a body; its lists; its properties | {size MAX_BODY_BYTES}; {whole MAX_LIST_LENGTH}; {whole MAX_PROPERTIES} |
| gateway | a document: tokens, levels, aliases | {whole MAX_TOKENS}, {whole MAX_DEPTH}, {whole src/limits:aliases} |
| gateway | fields with the same name that validation compares | {whole src/limits:repetitions} |
| gateway | an operation: complexity, REST calls, time | {whole MAX_COMPLEXITY}, {whole MAX_UPSTREAM_CALLS}, {seconds OPERATION_TIMEOUT_MS} |
| gateway | complexity for one unit | {whole COMPLEXITY_PER_COST} |
| gateway | players of one list; friends of one page | {whole MAX_PLAYERS}; {whole MAX_PAGE_SIZE} |
| gateway | events of one report | {whole MAX_EVENTS} |
| gateway | a text of a player; its \`custom\` | {whole src/graphql/input:MAX_TEXT_LENGTH} characters; {size src/graphql/input:MAX_CUSTOM_BYTES} |
| gateway | a response | {size MAX_RESPONSE} |
| gateway | documents that are kept, and their characters | {whole MAX_DOCUMENTS}, {whole MAX_CHARACTERS} |
| gateway | compiled operations, and their fields | {whole MAX_COMPILED}, {whole MAX_COMPILED_FIELDS} |
| gateway | persisted queries of clients; one of them | {whole MAX_TEXTS}; {size MAX_TEXT_BYTES} |
| gateway | a REST call with its retries; connections to one endpoint | {seconds REST_TIMEOUT_MS}; {whole REST_CONNECTIONS} |
| gateway | a response of the REST service; the items of a list in it | {size MAX_RESPONSE_BYTES}; {whole src/rest/decode:MAX_ITEMS} |
| gateway | a text of a player and its \`custom\`, when they are read | {whole MAX_PLAYER_TEXT} characters; {size src/rest:MAX_CUSTOM_BYTES} |
| reference service | a body | {size packages/reference/src:BODY_LIMIT} |
| reference service | an identifier; the name of an event | {whole packages/reference/src:MAX_ID_BYTES} bytes; {whole packages/reference/src:MAX_NAME_LENGTH} characters |
| reference service | a text of a player; its \`custom\` | {whole packages/reference/src:MAX_TEXT_LENGTH} characters; {size packages/reference/src:MAX_CUSTOM_BYTES} |
| none, or one that is not valid, for each address | {rate FAILED_AUTHENTICATIONS} | {whole MAX_FAILED_AUTHENTICATIONS_PER_SECOND * tokenlessMs} ms | none | {whole MAX_FAILED_AUTHENTICATIONS_BURST * tokenlessMs} ms | none |
| of a player | {rate OPERATIONS} | {whole MAX_OPERATIONS_PER_SECOND * unitMs} ms | {whole documents * unitMs} ms | {whole MAX_OPERATIONS_BURST * unitMs} ms | {whole MAX_COUPON_READS_PER_SECOND} |
| client token without \`any-player\` | {rate OPERATIONS} | {whole MAX_OPERATIONS_PER_SECOND * unitMs} ms | {whole documents * unitMs} ms | {whole MAX_OPERATIONS_BURST * unitMs} ms | {whole MAX_COUPON_READS_PER_SECOND} |
| JWT or client token with \`any-player\` | {rate SERVER_OPERATIONS} | {whole MAX_SERVER_OPERATIONS_PER_SECOND * unitMs} ms | {whole serverDocuments * unitMs} ms | {whole MAX_SERVER_OPERATIONS_BURST * unitMs} ms | {whole MAX_SERVER_COUPON_READS_PER_SECOND} |
`;

const ROOT = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');
const calculate = (formula: string): number => runInNewContext(formula);

const known: Record<string, unknown> = VARIABLES.parse({});
for (const [path, pattern] of [
  ['src/limits/rate-limits.ts', /limits\('', .* (?<documents>[\d_]+), (?<keys>[\d_]+)\)/],
  ['src/limits/rate-limits.ts', /limits\('server-', .* (?<serverDocuments>[\d_]+), (?<serverKeys>[\d_]+)\)/],
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
  calculate(expression.replace(/[^\s*+\d][^\s*+]*/g, (term) => String(numberOf(term))));
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

test('the tables of bounds in docs/security.md have the figures of the program', () => {
  const filled = TABLES.replace(/\{(\w+) ([^}]+)\}/g, (_all, unit, what) => `${UNITS[unit]?.(what)}`);
  const [, section = ''] = read('docs/security.md').split('\n## Who bounds what\n');
  const rows = section.split('\n## ')[0]?.match(/^\| (?!(?:who|token) \|).*$/gm);
  expect(rows).toEqual(filled.trim().split('\n'));
});
