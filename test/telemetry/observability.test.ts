import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { newFile } from '../kit/at-end.ts';
import { startBoth } from '../kit/gateway.ts';
import { get } from '../kit/post.ts';
import { bearer, secretSigner } from '../kit/tokens.ts';

/* docs/observability.md has every metric and every field of the log line of an operation, and no other. */
const book = readFileSync(new URL('../../docs/observability.md', import.meta.url), 'utf8');

function rowsOf(title: string): string[][] {
  const [section = ''] = book.split(`## ${title}\n`)[1]?.split('\n## ') ?? [];
  const rows = section.replaceAll('`', '').matchAll(/^\|( \w.*)\|$/gm);
  return [...rows].map(([, row = '']) => row.split('|').map((cell) => cell.trim()));
}

const words = (text = '') => text.split(' ').sort().join(' ');

const signer = secretSigner();
const { upstream, gateway } = await startBoth({
  ...{ ...signer.env, SLOW_OPERATION_MS: '1' },
  PERSISTED_OPERATIONS_FILE: newFile('app-1.json', { id: '{ me { id } }' }),
});
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const client = { 'apollographql-client-name': 'web', 'apollographql-client-version': '1' };
const headers = { ...bearer(signer, { sub: 'p1' }), traceparent, ...client };
upstream.on('GET /player', { status: 500 }, { json: { playerAttributes: { joinDate: 'yesterday' } } });
upstream.on('GET /coupon', { status: 404, raw: '' }, { status: 400, json: {} });
for (const query of [
  'query Retried { me { attributes { joinDate } } }',
  '{ me { coupons { code } } }',
  '{ me { coupons { code } } node(id: "..") { id } }',
  'mutation { upsertPlayer(input: { playerUniqueId: ".." }) { userErrors { code } } }',
  'mutation { trackEvents(input: { playerUniqueId: "p1", events: [{ name: "visit" }] }) { eventNames } }',
])
  await gateway.query(query, {}, headers);
await gateway.query('{ me { id } }', {}, bearer(signer, { sub: 'p1', iss: 'somebody else' }));
const extensions = JSON.stringify({ persistedQuery: { version: 1, sha256Hash: '0'.repeat(64) } });
await get(gateway.url, { extensions }, headers);

test('every metric with its type and labels', async () => {
  const text = await gateway.metrics();
  const emitted = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => {
    const series = [...text.matchAll(new RegExp(`^${name}(?:_bucket|_sum|_count)?\\{(.*)\\}`, 'gm'))].join();
    const labels = new Set([...series.matchAll(/(\w+)="/g)].map(([, label]) => label));
    labels.delete('le');
    // Nothing of the schema is deprecated; usage.test.ts deprecates something.
    if (name === 'gateway_deprecated_usage_total') labels.add('coordinate').add('client');
    return [name, type, words([...labels].join(' '))].join(' ');
  });
  const documented = rowsOf('Metrics').map(([name, type, , labels]) => [name, type, words(labels)].join(' '));
  // Node's depend on the system and on what is open.
  const ours = (metrics: string[]) => metrics.filter((metric) => /^(?:gateway|rest)_/.test(metric)).sort();
  expect(ours(documented)).toEqual(ours([...emitted, 'gateway_redis_up gauge ', 'gateway_key_set_age_seconds gauge ']));
  expect(emitted.filter((metric) => !book.includes(`\`${metric.split(' ')[0]}\``))).toEqual([]);
});

test('every field of the log line of an operation', () => {
  const lines = [...gateway.logged().matchAll(/^.*"msg":"operation".*$/gm)].map(([line]) => JSON.parse(line));
  const documented = rowsOf('The log line of an operation').map(([field]) => field);
  expect(documented.sort()).toEqual(['field', ...new Set(lines.flatMap((line) => Object.keys(line)))].sort());
});
