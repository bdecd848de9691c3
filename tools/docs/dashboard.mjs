// biome-ignore-all lint/style/noProcessEnv: the programs that it starts take settings.
/*
 * Writes docs/pictures/dashboard.png: the panels of deploy/dashboard.json with the data of two gateways under a little load. A real
 * Prometheus answers the queries of the panels, and uPlot, the library of Grafana's own charts, draws them in Chromium. Fails
 * when a query returns nothing. Where one of the programs is missing, the picture stays as it is.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash, generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { startProgress } from '../progress.mjs';
import { draw, STYLE } from './dashboard-page.mjs';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = process.env.CHROMIUM ?? PLACES.find((path) => existsSync(path));
const UPLOT = 'node_modules/uplot/dist';
const isInstalled = (program) => spawnSync(program, ['--version']).status === 0;

/** How long there is load, and the pause between two scrapes, in seconds. */
const LOAD_S = 90;
const STEP_S = 1;
/** What Grafana would put in the place of its variables. */
const VARIABLES = [
  [/\$__rate_interval/g, `${10 * STEP_S}s`],
  [/\$(?:job|namespace)\b/g, '.*'],
];

const CLIENTS = [
  {
    name: 'shop',
    text: 'token-of-the-shop',
    scopes: ['players:read', 'coupons:read', 'referrals:read', 'events:write'],
  },
  { name: 'support', text: 'token-of-the-support', scopes: ['players:read', 'coupons:read', 'referrals:read'] },
];
const player = (id, fields) => `player(playerUniqueId: "${id}") { ${fields} }`;
const COUPONS = 'coupons { code couponType value }';
const FRIENDS = 'referredFriends(limit: 20) { total nodes { displayName status } }';
/** Operations by how often they are sent, a second and gateway, and the players whose calls fail in the demo. */
const OPERATIONS = [
  [6, `query MobileScreen { ${player('demo-player', `attributes { displayName tags } ${COUPONS} ${FRIENDS}`)} }`],
  [4, `query Coupons { ${player('demo-player', COUPONS)} }`],
  [3, `query Friends { ${player('demo-player', FRIENDS)} }`],
  [0.4, `query Coupons { ${player('demo-no-coupons', COUPONS)} }`],
  [0.2, `query Friends { ${player('demo-no-friends', FRIENDS)} }`],
  [0.2, `query Profile { ${player('demo-throttled', 'attributes { displayName }')} }`],
  [0.3, 'query Strange { nothing }'],
];
const EVENTS = `mutation Visits($key: String!) {
  trackEvents(input: { playerUniqueId: "demo-player", idempotencyKey: $key, events: [{ name: "visit" }] }) { eventNames }
}`;

let folder;
const atEnd = [];

/** Starts a program; resolves to what the pattern finds in its output. */
async function start(command, args, pattern, env = {}) {
  const child = spawn(command, args, { env: { PATH: process.env.PATH, ...env }, cwd: process.cwd() });
  const ended = once(child, 'exit');
  atEnd.push(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part) => (text += part));
  for (;;) {
    const found = pattern.exec(text);
    if (found) return found[1];
    const isOver = await Promise.race([
      once(child.stdout, 'data'),
      once(child.stderr, 'data'),
      ended.then(() => 'over'),
    ]);
    if (isOver === 'over') throw new Error(`${command} ended: ${text}`);
  }
}

async function freePort() {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

async function startGateways() {
  const keys = { REST_API_KEY: 'api-key-of-the-picture', REST_SECRET_KEY: 'secret-key-of-the-picture' };
  const service = await start(process.execPath, ['dist/reference/main.js', '--demo'], /"url":"(http:[^"]+)"/, {
    ...{ ...keys, DATA_DIR: folder, REFERENCE_PORT: '0' },
  });
  const redisPort = await freePort();
  await start(
    'redis-server',
    ['--port', `${redisPort}`, '--save', '', '--dir', folder],
    /(eady to accept connections)/,
  );
  const jwk = { ...generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'EdDSA' };
  const keyServer = createServer((_request, response) => response.end(JSON.stringify({ keys: [jwk] })));
  await once(keyServer.listen(0, '127.0.0.1'), 'listening');
  atEnd.push(async () => keyServer.close().closeAllConnections());
  const tokens = CLIENTS.map(({ name, text, scopes }) => {
    const sha256 = createHash('sha256').update(text).digest('hex');
    return { name, sha256, scopes: [...scopes, 'any-player'] };
  });
  writeFileSync(join(folder, 'clients.json'), JSON.stringify(tokens));
  const env = {
    ...{ ...keys, REST_BASE_URL: service, PORT: '0', MANAGEMENT_PORT: '0' },
    ...{ REDIS_URL: `redis://127.0.0.1:${redisPort}`, CLIENT_TOKENS_FILE: join(folder, 'clients.json') },
    ...{ JWT_JWKS_URL: `http://127.0.0.1:${keyServer.address().port}/keys` },
    ...{ JWT_ISSUER: 'https://login.example', JWT_AUDIENCE: 'referral-gateway' },
  };
  const ready = /(\{[^\n]*"msg":"ready"[^\n]*\})/;
  const lines = await Promise.all([1, 2].map(() => start(process.execPath, ['dist/main.js'], ready, env)));
  return lines.map((line) => JSON.parse(line));
}

async function startPrometheus(targets) {
  const port = await freePort();
  const scrape = (target, index) => ({
    job_name: `referral-gateway-${index}`,
    static_configs: [
      { targets: [target], labels: { namespace: 'live', job: 'referral-gateway', instance: `pod-${index}` } },
    ],
  });
  const global = { scrape_interval: `${STEP_S}s`, scrape_timeout: `${STEP_S}s` };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ global, scrape_configs: targets.map(scrape) }));
  const options = [`--config.file=${folder}/config.json`, `--storage.tsdb.path=${folder}/data`];
  await start('prometheus', [...options, `--web.listen-address=127.0.0.1:${port}`], /(eady to receive web requests)/);
  return async (query, from, to) => {
    const values = new URLSearchParams({ query, start: from, end: to, step: STEP_S });
    const answer = await (await fetch(`http://127.0.0.1:${port}/api/v1/query_range?${values}`)).json();
    if (answer.status !== 'success') throw new Error(`${query}: ${answer.error}`);
    return answer.data.result;
  };
}

/** Sends operations for a while, more and less in waves, so that the lines are not flat. */
async function load(urls) {
  const ask = (url, token, query, variables) =>
    fetch(`${url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token && { authorization: `Bearer ${token}` }),
        ...(token === 'token-of-the-shop' && {
          'apollographql-client-name': 'web',
          'apollographql-client-version': '4.1',
        }),
      },
      body: JSON.stringify({ query, variables }),
    }).then((response) => response.text());
  const { step, end } = startProgress(LOAD_S / 10);
  const began = performance.now();
  for (let second = 0; second < LOAD_S; second += 1) {
    if (second % 10 === 0) step('load on two gateways');
    const wave = 1 + 0.5 * Math.sin(second / 7);
    const due = urls.flatMap((url, at) => {
      const many = OPERATIONS.flatMap(([rate, query]) => {
        const before = Math.floor(rate * wave * second);
        const count = Math.max(0, Math.floor(rate * wave * (second + 1)) - before);
        return Array.from({ length: Math.min(count, 20) }, () => [url, CLIENTS[at].text, query]);
      });
      return [
        ...many,
        [url, CLIENTS[1 - at].text, EVENTS, { key: randomUUID() }],
        [url, second % 5 === 0 ? 'wrong' : '', '{ me { id } }'],
      ];
    });
    await Promise.all(due.map((one) => ask(...one)));
    await sleep(Math.max(0, (second + 1) * 1_000 - (performance.now() - began)));
  }
  end();
}

/** The series of each panel. Throws when a query returns nothing. */
async function dataOf(panels, query, from, to) {
  const times = Array.from({ length: Math.floor((to - from) / STEP_S) + 1 }, (_, at) => from + at * STEP_S);
  const empty = [];
  const filled = [];
  for (const { title, fieldConfig, targets } of panels) {
    const series = [];
    for (const { expr, legendFormat } of targets) {
      const asked = VARIABLES.reduce((text, [variable, value]) => text.replace(variable, value), expr);
      const results = await query(asked, from, to);
      if (!results.some(({ values }) => values.some(([, value]) => Number.isFinite(Number(value)))))
        empty.push(`${title}: ${asked}`);
      for (const { metric, values } of results) {
        const at = new Map(values.map(([time, value]) => [Math.round(time), Number(value)]));
        const label = legendFormat.replace(/\{\{(\w+)\}\}/g, (_, name) => metric[name] ?? '');
        series.push({ label, values: times.map((time) => (Number.isFinite(at.get(time)) ? at.get(time) : null)) });
      }
    }
    filled.push({ title, unit: fieldConfig.defaults.unit, series });
  }
  if (empty.length > 0) throw new Error(`Queries of deploy/dashboard.json without a result:\n${empty.join('\n')}`);
  return { times, panels: filled };
}

async function main() {
  folder = mkdtempSync(join(tmpdir(), 'dashboard-'));
  const gateways = await startGateways();
  const query = await startPrometheus(gateways.map(({ management }) => new URL(management).host));
  await load(gateways.map(({ url }) => url));
  const to = Math.floor(Date.now() / 1_000) - STEP_S;
  const { panels } = JSON.parse(readFileSync('deploy/dashboard.json', 'utf8'));
  const data = await dataOf(panels, query, to - LOAD_S + 15, to);
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const browser = await chromium.launch({ executablePath, args: [...args, '--disable-gpu'] });
  atEnd.push(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 1_648, height: 900 }, colorScheme: 'light' });
  await page.setContent(
    `<!doctype html><style>${readFileSync(`${UPLOT}/uPlot.min.css`, 'utf8')}${STYLE}</style><body></body>`,
  );
  await page.addScriptTag({ path: `${UPLOT}/uPlot.iife.min.js` });
  await page.evaluate(draw, data);
  await page.screenshot({ path: 'docs/pictures/dashboard.png', fullPage: true });
}

const missing = ['prometheus', 'redis-server'].filter((program) => !isInstalled(program));
if (executablePath === undefined) missing.push('Chromium');
if (!existsSync(UPLOT)) missing.push('uplot');
if (missing.length > 0) console.log(`Missing: ${missing.join(', ')}. docs/pictures/dashboard.png stays as it is.`);
else {
  try {
    await main();
  } finally {
    for (const end of atEnd.reverse()) await end();
    if (folder) rmSync(folder, { recursive: true, force: true });
  }
}
