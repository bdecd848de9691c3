import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { loadReferenceConfig } from '../../packages/reference/src/config.ts';
import { loadConfig } from '../../src/config/config.ts';
import { reveal } from '../../src/config/secret.ts';
import { ALSO_IN_FILES, VARIABLES } from '../../src/config/variables.ts';
import { atEnd, newFile, newFolder } from '../kit/at-end.ts';
import { startGateway } from '../kit/gateway.ts';
import { post } from '../kit/post.ts';
import { startProcess } from '../kit/process.ts';
import { freePort } from '../kit/redis.ts';
import { startProxyOf } from '../kit/tcp-proxy.ts';
import { bearer, secretSigner, sha256 } from '../kit/tokens.ts';
import { until } from '../kit/until.ts';

/* The manifests of deploy/ fit the programs: their settings can be run with, and what is asked for exists. */

const read = (path: string) => readFileSync(path, 'utf8');
/** An alert in the runbook begins with its severity, and with the minutes for which its condition must hold. */
const entryOf = (alert: string) => new RegExp(`\n### ${alert}\n\\*\\*(\\w+)(?:, after (\\d+) minutes?)?\\.\\*\\* `);
const folder = newFolder();
const fileOf = (name: string, text: string) => newFile(name, text, folder);
for (const name of [
  'rest-api-key',
  'rest-secret-key',
  'log-key',
  'jwt-secret',
  'postgres-password',
  'contact-hash-key',
]) {
  fileOf(name, `${name}-of-more-than-32-bytes-for-this-test\n`);
}
fileOf('redis-url', 'redis://127.0.0.1:1/0\n');
fileOf('database-url', 'postgres://referral:password@postgres:5432/referral\n');

type Env = Record<string, string>;
/** The same settings with the secrets' files where this test has them. */
const here = (env: Env, mounted: string): Env =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value.replace(mounted, folder)]));
const SETTINGS = [...Object.keys(VARIABLES.shape), ...ALSO_IN_FILES.map((name) => `${name}_FILE`)];
const unknown = (env: Env) => Object.keys(env).filter((name) => !SETTINGS.includes(name));

test('Kubernetes: the pod is restricted, its settings are accepted in production, and a process with them answers the probes', async () => {
  const names = ['kubernetes', 'gateway', 'networkpolicy', 'servicemonitor', 'prometheusrule'];
  const parsed = names.flatMap((name) => parseAllDocuments(read(`deploy/${name}.yaml`)));
  expect(parsed.flatMap(({ errors }) => errors)).toEqual([]);
  const [deployment, service, budget, autoscaler] = parsed.map((document) => document.toJS());
  const { metadata, spec } = deployment.spec.template;
  const [pod] = spec.containers;
  expect(service.spec).toMatchObject({ selector: metadata.labels, ports: [{ targetPort: 'http' }] });
  expect(budget.spec.selector.matchLabels).toEqual(metadata.labels);
  // A pod that is not ready blocks no drain.
  expect(budget.spec).toMatchObject({ maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' });
  expect(autoscaler.spec).toMatchObject({ scaleTargetRef: { name: deployment.metadata.name }, minReplicas: 2 });
  expect(spec.securityContext).toMatchObject({ runAsUser: 1000, runAsGroup: 1000, runAsNonRoot: true });
  const restricted = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } };
  expect(pod).toMatchObject({ securityContext: restricted, volumeMounts: [{ readOnly: true }] });

  const given: Env = Object.fromEntries(pod.env.map((one: { name: string; value: string }) => [one.name, one.value]));
  const env = here(given, pod.volumeMounts[0].mountPath);
  expect(unknown(env)).toEqual([]);
  const config = loadConfig(env);
  expect(config).toMatchObject({ production: true, auth: { kind: 'tokens' } });
  expect(config.TRUST_PROXY).not.toBe(false);
  const management = { name: 'management', containerPort: config.MANAGEMENT_PORT };
  expect(pod.ports).toMatchObject([{ containerPort: config.PORT }, management]);
  expect(reveal(config.logKey)).not.toBe(reveal(config.rest.apiKey));
  const shutdownMs = config.SHUTDOWN_DELAY_MS + config.SHUTDOWN_GRACE_MS;
  expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(shutdownMs / 1_000 + 4);

  const gateway = await startProcess({
    ...{ ...env, JWT_JWKS_URL: '', JWT_SECRET: 'a-secret-of-more-than-32-bytes-for-tests' },
    ...{ HOST: '127.0.0.1', MANAGEMENT_HOST: '127.0.0.1', PORT: '0', MANAGEMENT_PORT: '0' },
    ...{ REST_API_KEY: '', REST_SECRET_KEY: '' },
  });
  for (const { httpGet } of [pod.startupProbe, pod.readinessProbe, pod.livenessProbe]) {
    expect([httpGet.port, (await gateway.page(httpGet.path)).status]).toEqual(['management', 200]);
  }
});

describe('compose', () => {
  const { services, secrets: files } = parse(read('deploy/compose.yaml'), { merge: true });

  test('the settings of both programs are known and accepted', () => {
    expect(unknown(services.gateway.environment)).toEqual([]);
    const { rest, auth } = loadConfig(here(services.gateway.environment, '/run/secrets'));
    expect([rest.baseUrl?.href, auth.kind]).toEqual(['http://reference:4100/', 'tokens']);
    expect(services.gateway).not.toHaveProperty('ports');
    const config = loadReferenceConfig(here(services.reference.environment, '/run/secrets'));
    expect(config.databaseUrl).toBe('postgres://referral:password@postgres:5432/referral');
    // Redis keeps every key, also through a restart.
    expect(services.redis.command.join(' ')).toMatch(/--appendonly yes .*noeviction/);
    // Rewriting its file can take as much again.
    const [, megabytes] = /--maxmemory (\d+)mb/.exec(services.redis.command.join(' ')) ?? [];
    expect(Number(megabytes) * 2).toBeLessThan(Number.parseInt(services.redis.mem_limit, 10));
    const { SHUTDOWN_DELAY_MS, SHUTDOWN_GRACE_MS } = loadConfig(here(services.gateway.environment, '/run/secrets'));
    const [, asksEveryS] = /resolver \S+ valid=(\d+)s/.exec(read('deploy/nginx.conf')) ?? [];
    expect(SHUTDOWN_DELAY_MS).toBeGreaterThan(Number(asksEveryS) * 1_000);
    const graceMs = Number.parseInt(services.gateway.stop_grace_period, 10) * 1_000;
    expect(graceMs).toBeGreaterThanOrEqual(SHUTDOWN_DELAY_MS + SHUTDOWN_GRACE_MS + 4_000);
  });

  test.each(Object.keys(services))('%s: its secrets and dependencies exist', (name) => {
    const { secrets: own = [], depends_on = {} } = services[name];
    const mentioned = JSON.stringify(services[name]).match(/(?<=\/run\/secrets\/)[\w-]+/g) ?? [];
    expect([...new Set(mentioned)].sort()).toEqual(own.toSorted());
    for (const secret of own) expect(files[secret].file).toMatch(/^\.\/secrets\//);
    for (const other of Object.keys(depends_on)) {
      expect(depends_on[other].condition).toBe('service_healthy');
      expect(services[other].healthcheck).toEqual(expect.anything());
    }
  });

  test.each(Object.keys(services))(
    '%s: no capability, a bounded log and memory, and no network that it does not need',
    (name) => {
      const bounded = {
        read_only: true,
        cap_drop: ['ALL'],
        logging: { options: { 'max-size': '10m' } },
        mem_limit: '512m',
      };
      expect(services[name]).toMatchObject(bounded);
      const reaches = (other: string) =>
        services[name].networks.some((network: string) => services[other].networks.includes(network));
      const neighbours = Object.keys(services).filter((other) => other !== name && reaches(other));
      const expected: Record<string, string[]> = {
        gateway: ['nginx', 'reference', 'redis'],
        nginx: ['gateway'],
        reference: ['gateway', 'postgres', 'redis'],
        postgres: ['reference'],
        redis: ['gateway', 'reference'],
      };
      expect(neighbours).toEqual(expected[name]);
    },
  );

  test('the documented commands make the secrets and a token for them', () => {
    const [, page = ''] = read('docs/deployment.md').split('\n### On one machine, to try it out\n');
    const commands = [...(page.split(/\n##+ /)[0]?.matchAll(/^```sh\n(.*?)^```$/gms) ?? [])].map(([, block]) => block);
    // npm runs a script in the root of the repository; there is no engine here.
    const stubs = `docker() { :; }; npm() { shift 3; (cd .. && node "${resolve('dist/token.js')}" "$@"); }`;
    mkdirSync(join(folder, 'deploy'));
    const script = [stubs, 'umask 077', ...commands].join('\n');
    const printed = execFileSync('sh', ['-euc', script], { cwd: folder, encoding: 'utf8' });
    expect(printed).toMatch(/eyJ[\w-]+\.[\w-]+\.[\w-]+/);
    const made = readdirSync(join(folder, 'deploy/secrets')).map((name) => ({ file: `./secrets/${name}` }));
    expect(new Set(made)).toEqual(new Set(Object.values(files)));
  });
});

describe('monitoring', () => {
  const metrics = async () => {
    const token = 'token-of-a-server';
    const clients = JSON.stringify([{ name: 'server', sha256: sha256(token), scopes: ['players:read', 'any-player'] }]);
    const keySet = { JWT_JWKS_URL: 'http://127.0.0.1:1/keys', JWT_ISSUER: 'login', JWT_AUDIENCE: 'gateway' };
    const gateway = await startProcess({
      ...{ REST_BASE_URL: 'http://127.0.0.1:1', REDIS_URL: 'redis://127.0.0.1:1' },
      ...{ ...keySet, CLIENT_TOKENS_FILE: fileOf('clients.json', clients) },
    });
    await post(gateway.url, { query: '{ player(playerUniqueId: "p1") { attributes { city } } }' }, bearer(token));
    const { text } = await gateway.pageWhen('/metrics', (page) => page.text.includes('\nrest_calls_total{'));
    return text;
  };

  test('each alert has an entry in the runbook and a test; alerts and dashboard ask for metrics that the gateway has', async () => {
    type Rule = {
      alert: string;
      expr: string;
      for?: string;
      labels: { severity: string };
      annotations: { runbook_url: string };
    };
    const { groups } = parse(read('deploy/alerts.yaml'));
    const alerts: Rule[] = groups.flatMap(({ rules }: { rules: Rule[] }) => rules);
    expect(parse(read('deploy/prometheusrule.yaml'))).toMatchObject({ kind: 'PrometheusRule', spec: { groups } });
    const tests = read('deploy/alerts.test.yaml') + read('deploy/alerts.week.test.yaml');
    for (const { alert, annotations, labels, for: minutes } of alerts) {
      expect(annotations.runbook_url).toMatch(new RegExp(`^https://\\S+/operations\\.html#${alert.toLowerCase()}$`));
      const [, severity = '', after] = entryOf(alert).exec(read('docs/operations.md')) ?? [];
      expect([alert, severity.toLowerCase(), after && `${after}m`]).toEqual([alert, labels.severity, minutes]);
      expect(tests).toContain(`alertname: ${alert}\n        exp_alerts:\n          - `);
    }
    const asked = JSON.stringify(alerts.map(({ expr }) => expr)) + read('deploy/dashboard.json');
    const names = new Set(asked.match(/\b(?:gateway|rest|process|nodejs)_\w+/g));
    expect(names.size).toBeGreaterThan(10);
    const text = await metrics();
    const has = (name: string) => text.includes(`# TYPE ${name.replace(/_(?:bucket|count|sum)$/, '')} `);
    expect([...names].filter((name) => !has(name))).toEqual([]);
  });

  const withPromtool = spawnSync('promtool', ['--version']).status === 0 ? test : test.skip;
  withPromtool('promtool accepts the metrics and the alerts, and each alert fires when it should', async () => {
    const options = { cwd: 'deploy', encoding: 'utf8', input: await metrics() } as const;
    const checked = spawnSync('promtool', ['check', 'metrics'], options);
    expect(checked).toMatchObject({ status: 0, stdout: '', stderr: '' });
    const fired = spawnSync('promtool', ['test', 'rules', 'alerts.test.yaml', 'alerts.week.test.yaml'], options);
    expect(fired).toMatchObject({ status: 0 });
  });
});

const withNginx = spawnSync('nginx', ['-v']).status === 0 ? test : test.skip;

/** The shipped nginx in front of servers at these URLs. */
async function startNginx(urls: string[]) {
  const directory = newFolder();
  const address = `127.0.0.1:${await freePort()}`;
  // Older versions than the shipped one lack `resolve`.
  const conf = read('deploy/nginx.conf')
    .replace('access_log /dev/stdout', `access_log ${directory}/access.log`)
    .replace('pid /tmp/nginx.pid;', `pid ${directory}/pid; daemon off; error_log ${directory}/error.log;`)
    .replace(/server gateway:4000 (.*)resolve;/, (_, options) =>
      urls.map((url) => `server ${new URL(url).host} ${options};`).join(' '),
    )
    .replace(/keepalive_timeout 60s; #/, '#')
    .replace('listen 8080 ', `listen ${address} `);
  const nginx = spawn('nginx', ['-p', directory, '-c', newFile('nginx.conf', conf, directory)], { stdio: 'inherit' });
  const ended = once(nginx, 'exit');
  const stop = async () => {
    nginx.kill('SIGTERM');
    await ended;
  };
  atEnd(stop);
  await until(() => fetch(`http://${address}`).then(Boolean, () => false));
  return { url: `http://${address}`, stop, log: () => readFileSync(join(directory, 'access.log'), 'utf8') };
}

withNginx('the shipped nginx goes on after it has lost a connection to each gateway', async () => {
  const env = { TRUST_PROXY: '1', ...secretSigner().env };
  const gateways = await Promise.all([1, 2].map(() => startGateway('http://127.0.0.1:1', env)));
  const proxies = await Promise.all(gateways.map(({ url }) => startProxyOf(url)));
  const { url } = await startNginx(proxies.map((proxy) => proxy.url));
  for (const proxy of proxies) proxy.cutReplyTo('POST');
  const statuses: number[] = [];
  for (let request = 0; request < 6; request += 1) {
    statuses.push((await fetch(`${url}/graphql`, { method: 'POST' })).status);
  }
  expect(statuses.toSorted()).toEqual([401, 401, 401, 401, 502, 502]);
});

withNginx('behind the shipped nginx no client chooses its address; nginx refuses a body over the limit', async () => {
  const rate = { MAX_FAILED_AUTHENTICATIONS_BURST: '2', MAX_FAILED_AUTHENTICATIONS_PER_SECOND: '1' };
  const env = { TRUST_PROXY: '1', ...secretSigner().env, ...rate };
  const gateways = await Promise.all([1, 2].map(() => startGateway('http://127.0.0.1:1', env)));
  const { url, stop, log } = await startNginx(gateways.map((gateway) => gateway.url));
  const statuses = new Set<number>();
  for (let attempt = 0; attempt < 8; attempt += 1) {
    const headers = { ...bearer('wrong'), 'x-forwarded-for': `192.0.2.${attempt}` };
    statuses.add((await post(url, { query: '{ me { id } }' }, headers)).status);
  }
  const allowed = await fetch(`${url}/graphql`, { headers: { origin: 'http://localhost:3000' } });
  expect(allowed.headers.get('access-control-allow-origin')).toBe('http://localhost:3000');
  // Each gateway counts failed tokens by the address that nginx tells.
  expect([...statuses]).toEqual([401, 429]);
  const before = gateways.map((gateway) => gateway.logged());
  // Websites can read the errors of nginx itself.
  const from = (origin: string) => ({ method: 'POST', body: 'x'.repeat(300_000), headers: { origin } });
  const refused = await fetch(`${url}/graphql`, from('http://localhost:3000'));
  expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([413, 'http://localhost:3000']);
  const stranger = await fetch(`${url}/graphql`, from('https://stranger.example'));
  expect([stranger.status, stranger.headers.get('access-control-allow-origin')]).toEqual([413, null]);
  expect(gateways.map((gateway) => gateway.logged())).toEqual(before);
  // A head that is too large is a 400 of nginx; its log has what the gateways did not answer, without the path.
  for (const large of [{ 'x-long': 'x'.repeat(70_000) }, { cookie: 'x'.repeat(9_000), 'x-long': 'x'.repeat(9_000) }]) {
    const long = await fetch(`${url}/graphql?secret`, { headers: { origin: 'http://localhost:3000', ...large } });
    expect([long.status, long.headers.get('access-control-allow-origin'), long.headers.get('retry-after')]).toEqual([
      ...[400, 'http://localhost:3000', null],
    ]);
  }
  await stop();
  const lines = log().trim().split('\n');
  // nginx writes a line when the rest of a refused body has arrived, so a later request can come first.
  expect(lines.map((line) => line.split(' ')[1]).toSorted()).toEqual(['400', '400', '413', '413']);
  expect(lines.join()).not.toContain('secret');
});
