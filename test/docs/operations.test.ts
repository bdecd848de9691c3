import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { atEnd, newFile } from '../kit/at-end.ts';
import { post } from '../kit/post.ts';
import { startProcess } from '../kit/process.ts';
import { bearer, type Json, keySigner, secretSigner } from '../kit/tokens.ts';
import { until } from '../kit/until.ts';
import { startUpstream } from '../kit/upstream.ts';

/*
 * The commands of docs/operations.md that read the log find their lines in the log of a gateway to which all of it happened, and
 * the queries in its table of symptoms name metrics of this gateway.
 */

const page = readFileSync('docs/operations.md', 'utf8');
const ofBlocks = [...page.matchAll(/^ *```sh\n(.*?)^ *```/gms)].flatMap(([, block = '']) => block.split('\n'));
const ofSymptoms = [...page.matchAll(/^\| \[.*? \| `(.*?)` \|/gm)].map(([, command = '']) => command);
const commands = [...ofBlocks, ...ofSymptoms]
  .map((line) => line.trim())
  .filter((line) => /^(?:SINCE=\w+ )?log '/.test(line));
/** Both definitions of `log`, with the log of the test in the place of the orchestrator's. */
const definitions = [...page.matchAll(/^log\(\) .*$/gm)].map(([line]) => line.replace(/\{ .*? \| jq/, '{ jq'));
const [definition] = definitions;
const jqIsInstalled = spawnSync('jq', ['--version']).status === 0;

const signer = secretSigner();
const upstream = await startUpstream();
const settings = {
  ...{ ...signer.env, REST_BASE_URL: upstream.url, LOG_KEY: 'key-of-the-names-in-the-log', SLOW_OPERATION_MS: '1' },
  ...{ PERSISTED_OPERATIONS: 'enforce', PERSISTED_OPERATIONS_EXEMPT_SCOPE: 'schema:read' },
  PERSISTED_OPERATIONS_FILE: newFile('app-1.json', { id: '{ me { id } }' }),
};
const gateway = await startProcess({ ...settings, REDIS_URL: 'redis://127.0.0.1:1' });
const client = { 'apollographql-client-name': 'web', 'apollographql-client-version': '4.1' };
const server = { sub: 'backend', scope: 'players:read players:delete events:write any-player schema:read' };
const ask = (query: string, more: Json) => post(gateway.url, { query }, { ...bearer(signer, more), ...client });
upstream.on('GET /player', { status: 400, json: {} });
await ask('{ player(playerUniqueId: "p7") { attributes { city } } }', server);
await ask('{ player(playerUniqueId: "p7") { nothing } }', server);
await ask('mutation { deletePlayer(input: { playerUniqueId: "p8" }) { deletedPlayerUniqueId } }', server);
await ask(
  'mutation { trackEvents(input: { playerUniqueId: "p8", events: [{ name: "visit" }] }) { eventNames } }',
  server,
);
await ask('{ me { attributes { city } } }', { scope: 'players:read' });
await ask('{ me { id } }', { iss: 'another login' });
await gateway.logged(({ outcome }) => outcome === 'UNAUTHENTICATED');
await post(gateway.url, {}, { ...client, 'x-forwarded-for': '203.0.113.7' });
await gateway.logged(({ msg = '' }) => msg.startsWith('X-Forwarded-For'));

// The key server has a key; later a token names another, and then it fails.
const known = keySigner('ES256', 'one');
let status = 200;
const keyServer = createServer((_request, response) => {
  response.writeHead(status).end(JSON.stringify({ keys: [known.jwk] }));
}).listen(0, '127.0.0.1');
await once(keyServer, 'listening');
atEnd(async () => void keyServer.close());
const JWT_JWKS_URL = `http://127.0.0.1:${(keyServer.address() as AddressInfo).port}/keys`;
const other = await startProcess({ ...signer.env, REST_BASE_URL: upstream.url, JWT_SECRET: '', JWT_JWKS_URL });
const strange = (kid: string) => post(other.url, { query: '{ me { id } }' }, bearer(keySigner('ES256', kid)));
await until(async () => (await other.page('/readyz')).status === 200);
await strange('two');
await other.logged(({ msg }) => /^a token names/.test(msg));
status = 500;
await strange('three');
await other.logged(({ msg }) => /^the keys for tokens/.test(msg));

// A gateway has no bug that a test could ask for, and no overload without much load.
const lines = [
  { level: 50, msg: 'field failed', requestId: 'r1', err: { message: 'a bug' } },
  { level: 40, msg: 'operations are refused', caller: 'c1', reason: 'this caller has too many' },
];
const unasked = lines.map((line) => JSON.stringify(line)).join('\n');
const name = spawnSync(process.execPath, ['dist/main.js', '--name', 'p7'], {
  encoding: 'utf8',
  env: { ...process.env, LOG_KEY: settings.LOG_KEY },
}).stdout.trim();
const requestId = gateway.log().find(({ msg }) => msg === 'operation')?.requestId;

(jqIsInstalled ? test : test.skip).each(commands)('%s', (command) => {
  const script = `${definition}\n${command.replaceAll('NAME', name).replaceAll('"ID"', `"${requestId}"`)}`;
  const input = gateway.output() + other.output() + unasked;
  const { stdout, stderr } = spawnSync('sh', ['-c', script], { input, encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(stdout).not.toBe('');
});

test('the queries in the table of symptoms name metrics that exist', async () => {
  const queries = ofSymptoms.filter((command) => /^(?:sum|topk)\b/.test(command));
  const names = queries.join().match(/\b[a-z]+_\w+/g) ?? [];
  const metrics = (await gateway.page('/metrics')).text;
  expect(queries.length).toBeGreaterThan(3);
  expect(names.filter((name) => !metrics.includes(`# TYPE ${name} `))).toEqual([]);
});

test('there are such commands, and one definition for them all', () => {
  expect(commands.length).toBeGreaterThan(25);
  expect([definitions.length, new Set(definitions).size]).toEqual([2, 1]);
});

(jqIsInstalled ? test : test.skip)('times can be read, and a line without one does not matter', () => {
  const input = ['{"time":1795871994782,"msg":"a"}', 'text', '{"msg":"b"}'].join('\n');
  const { stdout, stderr } = spawnSync('sh', ['-c', `${definition}\nlog '[.time, .msg]'`], { input, encoding: 'utf8' });
  expect([stdout, stderr]).toEqual(['["2026-11-28T13:19:54Z","a"]\n["1970-01-01T00:00:00Z","b"]\n', '']);
});
