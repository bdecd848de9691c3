/*
 * How much CPU does it cost to refuse the worst documents under the body limit? Sends each document three times and prints
 * the dearest, in milliseconds of CPU.
 *
 *   npm run build && node test/bench/refusals.mjs
 */
import { authorization, startOurs } from './processes.mjs';

const repeat = (count, make) => Array.from({ length: count }, (_, n) => make(n)).join(' ');
const LIMIT = 262_000;
const fill = (text) => text.repeat(Math.floor((LIMIT - 200) / JSON.stringify(text).length));
const bomb = (size, leaf) =>
  `{ me { ...F0 } } ${repeat(size, (n) => `fragment F${n} on Player { ...F${n + 1} ...F${n + 1} }`)} fragment F${size} on Player { ${leaf} }`;

const documents = {
  'a bomb of fragments': { query: bomb(90, 'id') },
  'a bomb just under the complexity limit': { query: bomb(13, 'id') },
  'fields that conflict': { query: `{ me { ${repeat(300, (n) => `x: ${n % 2 ? 'id' : 'referralLink'}`)} } }` },
  'fields that overlap': { query: `{ me { ${repeat(480, () => 'coupons { code }')} } }`.slice(0, 5_000) },
  'the same field': { query: `{ me { ${repeat(990, () => 'id')} } }` },
  'overlap through fragments': {
    query: `{ ${repeat(60, (n) => `me { ...F${n} }`)} } ${repeat(60, (n) => `fragment F${n} on Player { ...F${(n * 7) % 60 > n ? (n * 7) % 60 : 59} id }`)}`,
  },
  'unknown fields': { query: `{ me { ${repeat(990, (n) => `f${n}`)} } }` },
  'unknown fields with near names': { query: `{ me { ${repeat(990, (n) => `referredFriend${n}`)} } }` },
  'unknown directives': { query: `{ me { id ${repeat(490, (n) => `@d${n}`)} } }` },
  'one long name': { query: `{ ${'x'.repeat(250_000)} }` },
  'one long string': { query: `{ player(playerUniqueId: "${'x'.repeat(250_000)}") { id } }` },
  'one long block string': { query: `{ player(playerUniqueId: """${'x\n '.repeat(60_000)}""") { id } }` },
  'one long comment': { query: `#${'x'.repeat(250_000)}\n{ idd }` },
  commas: { query: `{ ${','.repeat(250_000)} idd }` },
  escapes: { query: `{ player(playerUniqueId: "${fill('\\u0041')}") { id } }` },
  'a wrong list in a variable': {
    query: 'query ($t: [CouponType!]) { me { coupons(filter: { couponTypes: $t }) { code } } }',
    variables: { t: Array(60_000).fill('x') },
  },
  'wrong metadata': {
    query: 'mutation ($i: TrackEventsInput!) { trackEvents(input: $i) { eventNames } }',
    variables: {
      i: {
        playerUniqueId: 'p1',
        events: Array.from({ length: 5_000 }, (_, n) => ({ name: `e${n}`, metadata: { a: {} } })),
      },
    },
  },
  'the same event many times': {
    query: 'mutation ($i: TrackEventsInput!) { trackEvents(input: $i) { userErrors { code } } }',
    variables: { i: { playerUniqueId: 'p1', events: Array(15_000).fill({ name: 'e' }) } },
  },
  'deep variables': { query: '{ idd }', variables: JSON.parse(`${'{"a":'.repeat(3_000)}1${'}'.repeat(3_000)}`) },
};

const gateway = await startOurs({ url: 'http://127.0.0.1:9' }, { MAX_OPERATIONS_BURST: '10000' }, 'anywhere');
const rows = [];
for (const [name, body] of Object.entries(documents)) {
  const text = JSON.stringify(body);
  let worst = 0;
  let status = 0;
  for (let time = 0; time < 3; time += 1) {
    const before = await gateway.usage();
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body: text,
    });
    await response.text();
    const { cpuUs } = await gateway.usage();
    worst = Math.max(worst, (cpuUs - before.cpuUs) / 1_000);
    status = response.status;
  }
  rows.push({ document: name, bytes: text.length, status, 'CPU ms': Math.round(worst) });
}
console.table(rows.sort((a, b) => b['CPU ms'] - a['CPU ms']));
await gateway.stop();
process.exit(0);
