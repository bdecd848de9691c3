import { readdirSync, readFileSync } from 'node:fs';
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
| gateway | a request; a connection without traffic | {seconds REQUEST_MS}; {seconds OPERATION_TIMEOUT_MS + REQUEST_MS} |
| gateway | missing and invalid tokens of one address | {rate FAILED_AUTHENTICATIONS} |
| gateway | verified tokens that are remembered, of all and of one caller | {whole src/access:max}, {whole MAX_TOKENS_PER_CALLER} |
| gateway | requests in flight, of all and of one caller | {whole MAX_CONCURRENT_OPERATIONS}, {whole MAX_CONCURRENT_OPERATIONS * CALLER_SHARE} |
| gateway | bytes of bodies, and of responses that wait to be sent, of all and of one caller | {size src/http:MAX_BYTES}, {size MAX_BYTES_OF_CALLER} |
| gateway | the event loop and the heap, beyond which requests are refused | {seconds src/http:MAX_EVENT_LOOP_DELAY_MS}, {percent MAX_HEAP_SHARE} |
| gateway | units of one caller | {rate OPERATIONS} |
| gateway | the same with \`any-player\` | {rate SERVER_OPERATIONS} |
| gateway | reads of coupons of one caller | {rate COUPON_READS} |
| gateway | the same with \`any-player\` | {rate SERVER_COUPON_READS} |
| gateway | new documents of one caller | {whole documents} a second, burst {whole documents * 5} |
| gateway | the same with \`any-player\` | {whole serverDocuments} a second, burst {whole serverDocuments * 5} |
| gateway | new idempotency keys of one caller in 24 hours, and with \`any-player\` | {whole keys}, {whole serverKeys} |
| gateway | idempotency keys in memory, without Redis | {whole src/graphql:MAX_KEYS} |
| gateway | a body; its lists; its properties | {size MAX_BODY_BYTES}; {whole MAX_LIST_LENGTH}; {whole MAX_PROPERTIES} |
| gateway | a document: tokens, levels, root fields | {whole MAX_TOKENS}, {whole MAX_DEPTH}, {whole src/limits:'rootFields} |
| gateway | its aliases, and the characters of one | {whole src/limits:aliases}, {whole src/limits:aliasLength} |
| gateway | fields with the same name that validation compares | {whole src/limits:repetitions} |
| gateway | an operation: complexity, REST calls, time | {whole MAX_COMPLEXITY}, {whole MAX_UPSTREAM_CALLS}, {seconds OPERATION_TIMEOUT_MS} |
| gateway | complexity for one unit | {whole COMPLEXITY_PER_COST} |
| gateway | players of one list; friends of one page | {whole MAX_PLAYERS}; {whole MAX_PAGE_SIZE} |
| gateway | events of one report | {whole MAX_EVENTS} |
| gateway | a text of a player; its \`custom\` | {whole src/graphql/input:MAX_TEXT_LENGTH} characters; {size src/graphql/input:MAX_CUSTOM_BYTES} |
| gateway | a response | {size MAX_RESPONSE} |
| gateway | documents that are kept, and their characters | {whole MAX_DOCUMENTS}, {whole MAX_CHARACTERS} |
| gateway | compiled operations, and their fields: of the manifest, and as many of others | {whole MAX_COMPILED}, {whole MAX_COMPILED_FIELDS} |
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

/** Every number of a pattern in a text. */
const numbersIn = (text: string, pattern: RegExp) => (pattern.exec(text) ?? []).slice(1).map((found) => product(found));
const product = (text: string) =>
  text.split(' * ').reduce((result, part) => {
    const [over = '', ...under] = part.replaceAll('_', '').split(' / ').map(Number);
    return under.reduce((quotient, divisor) => quotient / divisor, result * Number(over));
  }, 1);

const rates = read('src/limits/rate-limits.ts');
const [documents, keys] = numbersIn(rates, /limits\('', .* ([\d_]+), ([\d_]+)\)/);
const [serverDocuments, serverKeys] = numbersIn(rates, /limits\('server-', .* ([\d_]+), ([\d_]+)\)/);
const [unitMs] = numbersIn(read('test/bench/cost.mjs'), /MAX_UNIT_MS = ([\d.]+);/);
const [tokenlessMs] = numbersIn(read('test/bench/cost.mjs'), /MAX_TOKENLESS_MS = ([\d.]+);/);
const known = new Map<string, unknown>(
  Object.entries({ ...VARIABLES.parse({}), documents, keys, serverDocuments, serverKeys, unitMs, tokenlessMs }),
);

/** A number by its name, or what follows the name and an equals sign, a colon or a comma below a folder: `64 * 1_024`. */
function numberOf(term: string): number {
  if (known.has(term) || /^\d/.test(term)) return Number(known.get(term) ?? term);
  const [name = '', folder = 'src'] = term.split(':').reverse();
  const files = readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' });
  const source = files.map((file) => (file.endsWith('.ts') ? read(`${folder}/${file}`) : '')).join('\n');
  const assigned = new RegExp(`(?<![.\\w])${name}(?: =|:|',) ([\\d.][\\d._]*(?: [*/] \\d[\\d_]*)*)`, 'g');
  // A counter begins with 0.
  const found = new Set(
    [...source.matchAll(assigned)].map(([, text = '']) => product(text)).filter((number) => number > 0),
  );
  const [number = 0] = found;
  if (found.size !== 1) throw new Error(`${folder} has ${found.size} numbers ${name}`);
  return number;
}

const evaluate = (expression: string): number =>
  expression
    .split(' + ')
    .reduce((sum, part) => sum + part.split(' * ').reduce((all, term) => all * numberOf(term), 1), 0);

const whole = (value: number) => value.toLocaleString('en-US');
const UNITS: Record<string, (what: string) => string> = {
  whole: (what) => whole(evaluate(what)),
  seconds: (what) => `${evaluate(what) / 1_000} s`,
  percent: (what) => `${evaluate(what) * 100} %`,
  size(what) {
    const bytes = evaluate(what);
    if (bytes >= 1_048_576) return `${bytes / 1_048_576} MB`;
    return bytes >= 16_384 ? `${bytes / 1_024} KB` : `${whole(bytes)} bytes`;
  },
  rate: (name) =>
    `${whole(evaluate(`MAX_${name}_PER_SECOND`))} a second, burst ${whole(evaluate(`MAX_${name}_BURST`))}`,
  directive(what) {
    const [name, index = 0] = what.split(' ');
    const value = new RegExp(`^ *${name} ([^;]+);`, 'm').exec(read('deploy/nginx.conf'))?.[1]?.split(' ')[
      Number(index)
    ];
    return `${value}`.replace(/s$/, ' s').replace(/k$/, ' KB');
  },
};

test('the tables of bounds in docs/security.md have the figures of the program', () => {
  const filled = TABLES.replace(/\{(\w+) ([^}]+)\}/g, (_all, unit, what) => `${UNITS[unit]?.(what)}`);
  const [, section = ''] = read('docs/security.md').split('\n## Who bounds what\n');
  const lines = section.split('\n## ')[0]?.split('\n') ?? [];
  const rows = lines.filter((line) => line.startsWith('| ') && !/^\| (?:who|token) \|/.test(line));
  expect(rows).toEqual(filled.trim().split('\n'));
});
