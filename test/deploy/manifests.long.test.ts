import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, jest, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { loadReferenceConfig } from '../../packages/reference/src/config.ts';
import { loadConfig } from '../../src/config/config.ts';
import { ALSO_IN_FILES, VARIABLES } from '../../src/config/variables.ts';
import { post } from '../kit/gateway.ts';
import { startProcess } from '../kit/process.ts';
import { secretSigner } from '../kit/tokens.ts';
import { ROOT, read } from './files.ts';

/* The manifests of deploy/ fit the programs: their settings can be run with, and what is asked for exists. */

jest.setTimeout(60_000);

const secrets = mkdtempSync(join(tmpdir(), 'deploy-'));
for (const name of ['rest-api-key', 'rest-secret-key', 'jwt-secret', 'postgres-password']) {
  writeFileSync(join(secrets, name), `${name}-of-more-than-32-bytes-for-this-test\n`);
}
writeFileSync(join(secrets, 'redis-url'), 'redis://127.0.0.1:1/0\n');
afterAll(() => rmSync(secrets, { recursive: true }));

type Env = Record<string, string>;
/** The same settings with the secrets' files where this test has them. */
const here = (env: Env, mounted: string): Env =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value.replace(mounted, secrets)]));
const SETTINGS = new Set([...Object.keys(VARIABLES.shape), ...ALSO_IN_FILES.map((name) => `${name}_FILE`)]);
const unknown = (env: Env) => Object.keys(env).filter((name) => !SETTINGS.has(name));

describe('Kubernetes', () => {
  // biome-ignore lint/suspicious/noExplicitAny: manifests of every shape.
  const manifests: any[] = parseAllDocuments(read('deploy/kubernetes.yaml')).map((document) => document.toJS());
  const [deployment, service, budget, autoscaler] = manifests;
  const { metadata, spec } = deployment.spec.template;
  const [pod] = spec.containers;
  const env: Env = Object.fromEntries(pod.env.map((one: { name: string; value: string }) => [one.name, one.value]));
  const mounted = pod.volumeMounts[0].mountPath;
  const probes = [pod.startupProbe, pod.readinessProbe, pod.livenessProbe];

  test('every manifest is about this deployment, whose replicas the autoscaler sets', () => {
    const name = 'referral-gateway';
    expect(deployment).toMatchObject({ kind: 'Deployment', metadata: { name } });
    expect(deployment.spec).not.toHaveProperty('replicas');
    expect(service).toMatchObject({
      kind: 'Service',
      spec: { selector: metadata.labels, ports: [{ targetPort: 'http' }] },
    });
    const selector = { matchLabels: metadata.labels };
    expect(budget).toMatchObject({ kind: 'PodDisruptionBudget', spec: { minAvailable: 1, selector } });
    const scaleTargetRef = { kind: 'Deployment', name };
    expect(autoscaler).toMatchObject({ kind: 'HorizontalPodAutoscaler', spec: { scaleTargetRef, minReplicas: 2 } });
    for (const file of ['ingress.yaml', 'networkpolicy.yaml', 'servicemonitor.yaml']) {
      for (const { errors } of parseAllDocuments(read(`deploy/${file}`))) expect(errors).toEqual([]);
      expect(read(`deploy/${file}`)).toContain(name);
    }
  });

  test('the pod is restricted, and its settings are accepted in production', () => {
    expect(spec.securityContext).toMatchObject({ runAsUser: 1000, runAsGroup: 1000, runAsNonRoot: true });
    expect(pod).toMatchObject({
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
      volumeMounts: [{ readOnly: true }],
      resources: { requests: { cpu: expect.any(String), memory: expect.any(String) } },
    });
    expect(unknown(env)).toEqual([]);
    const config = loadConfig(here(env, mounted));
    expect(config).toMatchObject({ production: true, auth: { kind: 'tokens' }, shutdownDelayMs: 5_000 });
    expect(config.trustProxy).not.toBe(false);
    expect(pod.ports).toEqual([
      { name: 'http', containerPort: config.port },
      { name: 'management', containerPort: config.management.port },
    ]);
    const endsMs = config.shutdownDelayMs + config.shutdownGraceMs;
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(endsMs / 1_000 + 1);
  });

  test('a process with these settings answers the probes', async () => {
    const { JWT_JWKS_URL: _, ...withoutKeys } = env;
    const gateway = await startProcess({
      ...here(withoutKeys, mounted),
      ...{ HOST: '127.0.0.1', MANAGEMENT_HOST: '127.0.0.1', PORT: '0', MANAGEMENT_PORT: '0' },
      ...{ REST_API_KEY: '', REST_SECRET_KEY: '', JWT_SECRET: secretSigner().env['JWT_SECRET'] ?? '' },
    });
    try {
      await gateway.pageWhen('/readyz', ({ status }) => status === 200);
      for (const { httpGet } of probes) {
        expect(httpGet.port).toBe('management');
        expect([httpGet.path, (await gateway.page(httpGet.path)).status]).toEqual([httpGet.path, 200]);
      }
    } finally {
      await gateway.kill();
    }
  });
});

describe('compose', () => {
  interface Service {
    environment?: Env;
    secrets?: string[];
    depends_on?: Record<string, { condition: string }>;
    healthcheck?: object;
    command?: string[];
  }
  type Services = Record<string, Service> & Record<'gateway' | 'reference' | 'redis', Service>;
  const compose: { services: Services; secrets: Record<string, { file: string }> } = parse(read('deploy/compose.yaml'));
  const { services, secrets: files } = compose;
  const { gateway, reference, redis } = services;

  test('the settings of the gateway are known and accepted', () => {
    expect(unknown(gateway.environment ?? {})).toEqual([]);
    const config = loadConfig(here(gateway.environment ?? {}, '/run/secrets'));
    expect(config.rest.baseUrl?.href).toBe('http://reference:4100/');
    expect(config.auth.kind).toBe('tokens');
    expect(gateway).not.toHaveProperty('ports');
  });

  test('the settings of the reference service are accepted, with the password in its address', () => {
    const [, address = ''] = /DATABASE_URL="(.*?)"/.exec(reference.command?.join(' ') ?? '') ?? [];
    const DATABASE_URL = address.replace(/\$\$\(.*?\)/, 'password');
    const config = loadReferenceConfig(here({ ...reference.environment, DATABASE_URL }, '/run/secrets'));
    expect(config.databaseUrl).toBe('postgres://referral:password@postgres:5432/referral');
  });

  test.each(Object.entries(services))('%s: its secrets and dependencies exist', (_name, one) => {
    const mentioned = [...JSON.stringify(one).matchAll(/\/run\/secrets\/([\w-]+)/g)].map(([, name = '']) => name);
    expect([...new Set(mentioned)].sort()).toEqual((one.secrets ?? []).toSorted());
    for (const name of mentioned) expect(files[name]?.file).toMatch(/^\.\/secrets\//);
    for (const [other, { condition }] of Object.entries(one.depends_on ?? {})) {
      expect(condition).toBe('service_healthy');
      expect(services[other]).toHaveProperty('healthcheck');
    }
  });

  test('Redis keeps every key, also through a restart', () => {
    expect(redis.command).toEqual(expect.arrayContaining(['--appendonly', 'noeviction']));
  });

  test('the documented commands make the secrets and a token for them', () => {
    const folder = mkdtempSync(join(tmpdir(), 'compose-'));
    const commands = [...read('deploy/compose.yaml').matchAll(/^# {3}(.*)$/gm)].map(([, line]) => line);
    // npm runs a script in the root of the repository; there is no engine here.
    const stubs = `docker() { :; }; npm() { shift 3; (cd .. && node "${join(ROOT, 'dist/token.js')}" "$@"); }`;
    mkdirSync(join(folder, 'deploy'));
    const script = [stubs, 'umask 077', ...commands].join('\n');
    expect(execFileSync('sh', ['-euc', script], { cwd: folder, encoding: 'utf8' })).toMatch(
      /eyJ[\w-]+\.[\w-]+\.[\w-]+/,
    );
    const made = readdirSync(join(folder, 'deploy/secrets')).map((name) => `./secrets/${name}`);
    expect(made.sort()).toEqual(
      Object.values(files)
        .map(({ file }) => file)
        .sort(),
    );
    rmSync(folder, { recursive: true });
  });
});

describe('monitoring', () => {
  type Rule = { alert: string; expr: string; annotations: { runbook: string } };
  const alerts: Rule[] = parse(read('deploy/alerts.yaml')).groups[0].rules;
  const panels: { expr: string }[] = JSON.parse(read('deploy/dashboard.json')).panels.flatMap(
    ({ targets }: { targets: { expr: string }[] }) => targets,
  );
  const metrics = async () => {
    const gateway = await startProcess({ REST_BASE_URL: 'http://127.0.0.1:1', REDIS_URL: 'redis://127.0.0.1:1' });
    try {
      await post(gateway.url, { query: '{ me { id } }' });
      return (await gateway.pageWhen('/metrics', ({ text }) => text.includes('\nrest_calls_total{'))).text;
    } finally {
      await gateway.kill();
    }
  };

  test('each alert has an entry in the runbook and a test', () => {
    const entries = [...read('docs/operations.md').matchAll(/^### (\w+)$/gm)].map(([, name = '']) =>
      name.toLowerCase(),
    );
    for (const { alert, annotations } of alerts) {
      expect(annotations.runbook).toBe(`docs/operations.md#${alert.toLowerCase()}`);
      expect(entries).toContain(alert.toLowerCase());
      expect(read('deploy/alerts.test.yaml')).toContain(`alertname: ${alert}\n        exp_alerts:\n          - `);
    }
  });

  test('alerts and dashboard ask for metrics that the gateway has', async () => {
    const text = await metrics();
    const asked = [...alerts, ...panels].flatMap(
      ({ expr }) => expr.match(/\b(?:gateway|rest|process|nodejs)_\w+/g) ?? [],
    );
    expect(asked.length).toBeGreaterThan(20);
    const has = (name: string) => text.includes(`# TYPE ${name.replace(/_(?:bucket|count|sum)$/, '')} `);
    expect([...new Set(asked)].filter((name) => !has(name))).toEqual([]);
  });

  const withPromtool = spawnSync('promtool', ['--version']).status === 0 ? test : test.skip;
  const promtool = (args: string[], input = '') =>
    spawnSync('promtool', args, { cwd: join(ROOT, 'deploy'), encoding: 'utf8', input });
  withPromtool('promtool accepts the metrics', async () => {
    expect(promtool(['check', 'metrics'], await metrics())).toMatchObject({ status: 0, stdout: '', stderr: '' });
  });
  withPromtool('promtool accepts the alerts, and each fires when it should', () => {
    expect(promtool(['check', 'rules', 'alerts.yaml'])).toMatchObject({ status: 0 });
    expect(promtool(['test', 'rules', 'alerts.test.yaml'])).toMatchObject({ status: 0 });
  });
});
