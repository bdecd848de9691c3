import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { loadConfig } from '../../src/config/config.ts';

/*
 * The table "Who bounds what" of docs/security.md: each figure is that of the code, of a default of the configuration, or of
 * deploy/nginx.conf. Constants that no other file needs are read from the source.
 */

const ROOT = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');
const { limits, rates, maxConcurrentOperations, operationTimeoutMs, rest } = loadConfig({});

/** The source of a folder and those below it. */
const sourceOf = (folder: string) =>
  readdirSync(new URL(`${folder}/`, ROOT), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => read(`${folder}/${name}`))
    .join('\n');

/** The product that follows `name` and an equals sign or a colon in a folder: `64 * 1_024`. */
function constant(folder: string, name: string): number {
  const pattern = new RegExp(`(?<![.\\w])${name}(?: =|:) (\\d[\\d_]*(?: [*/] \\d[\\d_]*)*)`, 'g');
  const numbers = [...sourceOf(folder).matchAll(pattern)].map(([, number = '']) => product(number));
  // A counter begins with 0.
  const [found, ...others] = new Set(numbers.filter((number) => number !== 0));
  if (found === undefined || others.length > 0) throw new Error(`${folder} has not one number ${name}`);
  return found;
}

function product(text: string): number {
  const [first = '', ...others] = text.replaceAll('_', '').split(/ (?=[*/])/);
  return others.reduce((value, part) => {
    const number = Number(part.slice(2));
    return part.startsWith('*') ? value * number : value / number;
  }, Number(first));
}

/** The first argument of a directive of nginx, or another one. */
function nginx(directive: string, index = 0): string {
  const found = new RegExp(`^ *${directive} ([^;]+);`, 'm').exec(read('deploy/nginx.conf'))?.[1]?.split(' ')[index];
  if (found === undefined) throw new Error(`deploy/nginx.conf has no ${directive}`);
  return found;
}

const whole = (value: number) => value.toLocaleString('en-US');
const size = (bytes: number) =>
  bytes >= 1_048_576 ? `${bytes / 1_048_576} MB` : bytes >= 16_384 ? `${bytes / 1_024} KB` : `${whole(bytes)} bytes`;
const seconds = (ms: number) => `${ms / 1_000} s`;
const rate = ({ perSecond, burst }: { perSecond: number; burst: number }) =>
  `${whole(perSecond)} a second, burst ${whole(burst)}`;
const times = (text: string) => text.replace(/^(\d+)s$/, '$1 s');

const RATES = 'src/limits';
const OPERATION = 'src/limits';
const OVERLOAD = 'src/http';
const APP = 'src/http';
const REQUEST = 'src/graphql';
const INPUT = 'src/graphql/input';
const STORE = 'src/graphql';
const AUTOMATIC = 'src/persisted-operations';
const DECODE = 'src/rest/decode';
const SERVICE = 'packages/reference/src';

/** The budgets of players and of servers that have no setting: new documents a second, and idempotency keys a day. */
const fixedRates = (() => {
  const found = [...sourceOf(RATES).matchAll(/\w+\('[^']*', [\w.]+, [\w.]+, ([\d_]+), ([\d_]+)\)/g)];
  return found.map(([, documents = '', keys = '']) =>
    [documents, keys].map((text) => Number(text.replaceAll('_', ''))),
  );
})();
const [[documents = 0, keys = 0] = [], [serverDocuments = 0, serverKeys = 0] = []] = fixedRates;
const newDocuments = (perSecond: number) => rate({ perSecond, burst: 5 * perSecond });

const rows: [who: string, what: string, figure: string][] = [
  ['edge', 'connections of one address', nginx('limit_conn', 1)],
  [
    'edge',
    'the head of a request; a pause in its body',
    `${times(nginx('client_header_timeout'))}; ${times(nginx('client_body_timeout'))}`,
  ],
  ['edge', 'a pause in reading a response', times(nginx('send_timeout'))],
  ['edge', 'a body, which reaches the gateway when it is complete', nginx('client_max_body_size').replace('k', ' KB')],
  [
    'gateway',
    'the head of a request: its size, its headers, its time',
    `${size(constant(APP, 'maxHeaderSize'))}, ${constant('src/http', 'MAX_HEADERS')}, ${seconds(constant(APP, 'headersTimeout'))}`,
  ],
  [
    'gateway',
    'a request; a connection without traffic',
    `${seconds(constant(APP, 'REQUEST_MS'))}; ${seconds(operationTimeoutMs + constant(APP, 'REQUEST_MS'))}`,
  ],
  ['gateway', 'missing and invalid tokens of one address', rate(rates.failedAuthentications)],
  [
    'gateway',
    'verified tokens that are remembered, of all and of one caller',
    `${whole(constant('src/access', 'maxSize'))}, ${constant('src/access', 'MAX_TOKENS_PER_CALLER')}`,
  ],
  [
    'gateway',
    'requests in flight, of all and of one caller',
    `${whole(maxConcurrentOperations)}, ${maxConcurrentOperations * constant(OVERLOAD, 'CALLER_SHARE')}`,
  ],
  [
    'gateway',
    'bytes of bodies, and of responses that wait to be sent, of all and of one caller',
    `${size(constant(OVERLOAD, 'MAX_BYTES'))}, ${size(constant(OVERLOAD, 'MAX_BYTES_OF_CALLER'))}`,
  ],
  [
    'gateway',
    'the event loop and the heap, beyond which requests are refused',
    `${seconds(constant(OVERLOAD, 'MAX_EVENT_LOOP_DELAY_MS'))}, 90 %`,
  ],
  ['gateway', 'units of one caller', rate(rates.operations)],
  ['gateway', 'the same with `any-player`', rate(rates.serverOperations)],
  ['gateway', 'reads of coupons of one caller', rate(rates.couponReads)],
  ['gateway', 'the same with `any-player`', rate(rates.serverCouponReads)],
  ['gateway', 'new documents of one caller', newDocuments(documents)],
  ['gateway', 'the same with `any-player`', newDocuments(serverDocuments)],
  [
    'gateway',
    'new idempotency keys of one caller in 24 hours, and with `any-player`',
    `${whole(keys)}, ${whole(serverKeys)}`,
  ],
  ['gateway', 'idempotency keys in memory, without Redis', whole(constant('src/graphql', 'MAX_KEYS'))],
  [
    'gateway',
    'a body; its lists; its properties',
    `${size(limits.bodyBytes)}; ${constant(REQUEST, 'MAX_LIST_LENGTH')}; ${whole(constant(REQUEST, 'MAX_PROPERTIES'))}`,
  ],
  [
    'gateway',
    'a document: tokens, levels, root fields',
    `${whole(limits.tokens)}, ${limits.depth}, ${constant(OPERATION, 'rootFields')}`,
  ],
  [
    'gateway',
    'its aliases, and the characters of one',
    `${constant(OPERATION, 'aliases')}, ${constant(OPERATION, 'aliasLength')}`,
  ],
  ['gateway', 'fields with the same name that validation compares', whole(constant(OPERATION, 'repetitions'))],
  [
    'gateway',
    'an operation: complexity, REST calls, time',
    `${whole(limits.complexity)}, ${limits.upstreamCalls}, ${seconds(operationTimeoutMs)}`,
  ],
  ['gateway', 'complexity for one unit', whole(constant(OPERATION, 'COMPLEXITY_PER_COST'))],
  [
    'gateway',
    'players of one list; friends of one page',
    `${constant('src/graphql', 'MAX_PLAYERS')}; ${constant('src/graphql', 'MAX_PAGE_SIZE')}`,
  ],
  ['gateway', 'events of one report', whole(constant(INPUT, 'MAX_EVENTS'))],
  [
    'gateway',
    'a text of a player; its `custom`',
    `${whole(constant(INPUT, 'MAX_TEXT_LENGTH'))} characters; ${size(constant(INPUT, 'MAX_CUSTOM_BYTES'))}`,
  ],
  ['gateway', 'a response', size(constant('src/graphql', 'MAX_RESPONSE'))],
  [
    'gateway',
    'documents that are kept, and their characters',
    `${whole(constant(STORE, 'MAX_DOCUMENTS'))}, ${whole(constant(STORE, 'MAX_CHARACTERS'))}`,
  ],
  [
    'gateway',
    'compiled operations, and their fields',
    `${constant('src/graphql', 'MAX_COMPILED')}, ${whole(constant('src/graphql', 'MAX_COMPILED_FIELDS'))}`,
  ],
  [
    'gateway',
    'persisted queries of clients; one of them',
    `${whole(constant(AUTOMATIC, 'MAX_TEXTS'))}; ${size(constant(AUTOMATIC, 'MAX_TEXT_BYTES'))}`,
  ],
  [
    'gateway',
    'a REST call with its retries; connections to one endpoint',
    `${seconds(rest.timeoutMs)}; ${rest.connections}`,
  ],
  [
    'gateway',
    'a response of the REST service; the items of a list in it',
    `${size(constant('src/rest', 'MAX_RESPONSE_BYTES'))}; ${whole(constant(DECODE, 'MAX_ITEMS'))}`,
  ],
  [
    'gateway',
    'a text of a player and its `custom`, when they are read',
    `${whole(constant(DECODE, 'MAX_PLAYER_TEXT'))} characters; ${size(constant('src/rest', 'MAX_CUSTOM_BYTES'))}`,
  ],
  ['reference service', 'a body', size(constant(SERVICE, 'BODY_LIMIT'))],
  [
    'reference service',
    'an identifier; the name of an event',
    `${whole(constant(SERVICE, 'MAX_ID_BYTES'))} bytes; ${constant(SERVICE, 'MAX_NAME_LENGTH')} characters`,
  ],
  [
    'reference service',
    'a text of a player; its `custom`',
    `${whole(constant(SERVICE, 'MAX_TEXT_LENGTH'))} characters; ${size(constant(SERVICE, 'MAX_CUSTOM_BYTES'))}`,
  ],
];

/** The cells of the rows of the table below a heading, without its head. */
function tableBelow(heading: string): string[][] {
  const [, section = ''] = read('docs/security.md').split(`\n${heading}\n`);
  const lines = section.split(/\n#/)[0]?.split('\n') ?? [];
  const cells = lines.filter((line) => line.startsWith('|')).map((line) => line.split('|').slice(1, -1));
  return cells.slice(2).map((row) => row.map((cell) => cell.trim()));
}

test('the table of bounds has the figures of the code', () => {
  expect(tableBelow('## Who bounds what')).toEqual(rows);
});

test('the share of the heap is that of the code', () => {
  expect(sourceOf(OVERLOAD)).toContain('MAX_HEAP_SHARE = 0.9;');
});

test('the table of what a token can cost follows from the bounds', () => {
  const unitMs = Number(/MAX_UNIT_MS = ([\d.]+);/.exec(read('test/bench/cost.mjs'))?.[1]);
  const tokenlessMs = Number(/MAX_TOKENLESS_MS = ([\d.]+);/.exec(read('test/bench/cost.mjs'))?.[1]);
  const cpu = (units: number, ms: number) => `${whole(units * ms)} ms`;
  const caller = (kind: string, units: typeof rates.operations, unseen: number, coupons: typeof rates.couponReads) => [
    kind,
    rate(units),
    cpu(units.perSecond, unitMs),
    cpu(unseen, unitMs),
    cpu(units.burst, unitMs),
    whole(coupons.perSecond),
  ];
  const { perSecond, burst } = rates.failedAuthentications;
  expect(tableBelow('### What a token can cost')).toEqual([
    [
      'none, or one that is not valid, for each address',
      rate({ perSecond, burst }),
      cpu(perSecond, tokenlessMs),
      'none',
      cpu(burst, tokenlessMs),
      'none',
    ],
    caller('of a player', rates.operations, documents, rates.couponReads),
    caller('client token without `any-player`', rates.operations, documents, rates.couponReads),
    caller('JWT or client token with `any-player`', rates.serverOperations, serverDocuments, rates.serverCouponReads),
  ]);
});
