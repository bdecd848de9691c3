import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, jest, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { loadReferenceConfig } from '../packages/reference/src/config.ts';
import { loadConfig } from '../src/config/config.ts';
import { ALSO_IN_FILES, VARIABLES } from '../src/config/variables.ts';
import { post } from './kit/gateway.ts';
import { type GatewayProcess, startProcess } from './kit/process.ts';

/* What stands in deploy/ fits the programs: settings, ports, probes, files. Engines themselves are not run here. */

jest.setTimeout(60_000);

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

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

const GATEWAY = new Set([...Object.keys(VARIABLES.shape), ...ALSO_IN_FILES.map((name) => `${name}_FILE`)]);
// The reference service's settings are found in its source: it shares nothing with the gateway.
const REFERENCE = new Set(
  [...read('packages/reference/src/config.ts').matchAll(/\b[A-Z]+(?:_[A-Z]+)+\b/g)].flatMap(([name]) => [
    name,
    `${name}_FILE`,
  ]),
);

/** The variables that no setting has. */
const unknown = (env: Env, known: ReadonlySet<string>) => Object.keys(env).filter((name) => !known.has(name));

// The image.

interface Instruction {
  name: string;
  rest: string;
}

const instructions: Instruction[] = read('deploy/Dockerfile')
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n/g, ' ')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => ({ name: line.split(' ', 1)[0] ?? '', rest: line.slice(line.indexOf(' ') + 1) }));
/** The instructions of one stage of the Dockerfile. */
function stageOf(name: string): Instruction[] {
  const begin = instructions.findIndex((one) => one.name === 'FROM' && one.rest.endsWith(` AS ${name}`));
  const next = instructions.findIndex((one, place) => place > begin && one.name === 'FROM');
  return instructions.slice(begin, next < 0 ? undefined : next);
}
const restsOf = (stage: Instruction[], name: string) =>
  stage.filter((one) => one.name === name).map(({ rest }) => rest);
const only = (name: string) => restsOf(stageOf('gateway'), name);
const envOf = (stage: Instruction[]): Env =>
  Object.fromEntries(
    restsOf(stage, 'ENV').flatMap((rest) =>
      [...rest.matchAll(/(\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
    ),
  );
const imageEnv = envOf(stageOf('gateway'));
const referenceEnv = envOf(stageOf('reference'));
const command = (text = '') => z.array(z.string()).parse(JSON.parse(text.slice(text.indexOf('['))));

describe('the image', () => {
  const copied = instructions
    .filter(({ name, rest }) => name === 'COPY' && !rest.startsWith('--from'))
    .flatMap(({ rest }) => rest.split(/\s+/).slice(0, -1));
  const sent = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));

  test('is built of files that are there, and nothing else is sent to the engine', () => {
    expect(copied.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect(sent[0]).toBe('*');
    expect(sent.slice(1).sort()).toEqual([...new Set(copied)].map((path) => `!${path}`).sort());
  });

  test('of the gateway is the last one, has no packages of other workspaces, and is not root', () => {
    expect(instructions.findLast(({ name }) => name === 'FROM')?.rest).toMatch(/ AS gateway$/);
    const installed = stageOf('packages').find(({ name }) => name === 'RUN')?.rest;
    expect(installed).toMatch(/^npm ci --omit=dev --workspaces=false /);
    const program = command(only('CMD')[0]);
    expect(program.at(-1)).toBe('dist/main.js');
    expect(JSON.parse(read('package.json')).scripts.start).toContain(` exec ${program.join(' ')}`);
    expect(only('USER')).toEqual(['1000:1000']);
    expect(restsOf(stageOf('reference'), 'USER')).toEqual(['1000:1000']);
  });

  test('is named by a version, as is all that it is made of', () => {
    expect(read('deploy/Dockerfile')).toMatch(/^ARG NODE_IMAGE=node:\d+\.\d+\.\d+-slim$/m);
    const { version } = JSON.parse(read('package.json'));
    expect(read('deploy/Dockerfile')).toContain(`ARG VERSION=${version}\n`);
    for (const file of ['compose.yaml', 'kubernetes.yaml']) {
      const images = [...read(`deploy/${file}`).matchAll(/^ *image: (\S+)/gm)].map(([, image = '']) => image);
      expect(images.length).toBeGreaterThan(0);
      for (const image of images) expect(image).toMatch(/:\d+\.\d+/);
      for (const image of images.filter((one) => one.includes('referral-'))) expect(image).toMatch(`:${version}`);
    }
  });

  test('and the SBOM of the gateway have no package that the reference service alone needs', () => {
    const own = JSON.parse(read('package.json')).dependencies;
    const { dependencies } = JSON.parse(read('packages/reference/package.json'));
    const alone = Object.keys(dependencies).filter((name) => !(name in own));
    expect(alone).toEqual(expect.arrayContaining(['kysely', 'libsql', 'pg']));
    const sbom = JSON.parse(execFileSync('npm', ['run', '--silent', 'sbom'], { cwd: root, encoding: 'utf8' }));
    const named = sbom.components.map(({ name }: { name: string }) => name);
    expect(named).toContain('fastify');
    expect(alone.filter((name) => named.includes(name))).toEqual([]);
  });

  test('sets what the programs know', () => {
    expect(unknown(imageEnv, GATEWAY)).toEqual([]);
    expect(unknown(referenceEnv, REFERENCE)).toEqual([]);
    expect(only('EXPOSE')).toEqual([`${imageEnv['PORT']} ${imageEnv['MANAGEMENT_PORT']}`]);
    expect(restsOf(stageOf('reference'), 'EXPOSE')).toEqual([referenceEnv['REFERENCE_PORT']]);
  });

  test('of the gateway runs with dist, schema and package.json alone', async () => {
    const image = mkdtempSync(join(tmpdir(), 'image-'));
    for (const part of ['dist', 'schema', 'package.json']) {
      cpSync(join(root, part), join(image, part), {
        recursive: true,
        filter: (path) => !path.startsWith(join(root, 'dist/reference')),
      });
    }
    const gateway = await startProcess({ REST_BASE_URL: 'http://127.0.0.1:1' }, [], join(image, 'dist/main.js'));
    try {
      expect((await gateway.page('/readyz')).status).toBe(200);
      const { data } = await post(gateway.url, { query: '{ __typename }' });
      expect(data).toEqual({ __typename: 'Query' });
    } finally {
      await gateway.kill();
      rmSync(image, { recursive: true });
    }
  });
});

// Kubernetes.

const [deployment, service, budget, autoscaler] = parseAllDocuments(read('deploy/kubernetes.yaml')).map((document) => {
  expect(document.errors).toEqual([]);
  return document.toJS() as unknown;
});
const probe = z.object({ httpGet: z.object({ path: z.string(), port: z.literal('management') }) });
const pod = z
  .object({
    spec: z.object({
      replicas: z.never().optional(),
      template: z.object({
        metadata: z.object({ labels: z.record(z.string(), z.string()) }),
        spec: z.object({
          terminationGracePeriodSeconds: z.number(),
          securityContext: z.object({ runAsUser: z.number(), runAsGroup: z.number(), runAsNonRoot: z.literal(true) }),
          containers: z.tuple([
            z.object({
              ports: z.array(z.object({ name: z.string(), containerPort: z.number() })),
              env: z.array(z.object({ name: z.string(), value: z.string() })),
              volumeMounts: z.tuple([z.object({ mountPath: z.string(), readOnly: z.literal(true) })]),
              startupProbe: probe,
              readinessProbe: probe,
              livenessProbe: probe,
              lifecycle: z.never().optional(),
              resources: z.object({ requests: z.object({ cpu: z.string(), memory: z.string() }) }),
              securityContext: z.object({
                allowPrivilegeEscalation: z.literal(false),
                readOnlyRootFilesystem: z.literal(true),
                capabilities: z.object({ drop: z.tuple([z.literal('ALL')]) }),
              }),
            }),
          ]),
        }),
      }),
    }),
  })
  .parse(deployment).spec;
const [container] = pod.template.spec.containers;
const podEnv: Env = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));
const podSecrets = container.volumeMounts[0].mountPath;

describe('on Kubernetes', () => {
  test('the settings are known and good for production', () => {
    expect(unknown(podEnv, GATEWAY)).toEqual([]);
    const config = loadConfig(here(podEnv, podSecrets));
    expect(config).toMatchObject({ production: true, auth: { kind: 'tokens' } });
    expect(config.trustProxy).not.toBe(false);
    expect(container.ports).toEqual([
      { name: 'http', containerPort: config.port },
      { name: 'management', containerPort: config.management.port },
    ]);
    expect(config.shutdownDelayMs).toBe(5_000);
    expect(pod.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(
      (config.shutdownDelayMs + config.shutdownGraceMs) / 1000 + 1,
    );
  });

  test('the pod runs as the user of the image', () => {
    const { runAsUser, runAsGroup } = pod.template.spec.securityContext;
    expect(only('USER')).toEqual([`${runAsUser}:${runAsGroup}`]);
  });

  test('service, disruption budget and autoscaler are about this deployment', () => {
    const { labels } = pod.template.metadata;
    expect(service).toMatchObject({ kind: 'Service', spec: { selector: labels, ports: [{ targetPort: 'http' }] } });
    expect(budget).toMatchObject({
      kind: 'PodDisruptionBudget',
      spec: { minAvailable: 1, selector: { matchLabels: labels } },
    });
    expect(autoscaler).toMatchObject({
      kind: 'HorizontalPodAutoscaler',
      spec: {
        scaleTargetRef: { kind: 'Deployment', name: 'referral-gateway' },
        minReplicas: 2,
        metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization' } } }],
      },
    });
    expect(deployment).toMatchObject({ kind: 'Deployment', metadata: { name: 'referral-gateway' } });
  });

  test('a process with these settings answers the probes, and the image’s health check', async () => {
    const keySet = await startKeySet();
    const gateway = await startProcess({
      ...here(podEnv, podSecrets),
      ...{ HOST: '127.0.0.1', MANAGEMENT_HOST: '127.0.0.1', PORT: '0', MANAGEMENT_PORT: '0' },
      ...{ REST_API_KEY: '', REST_SECRET_KEY: '', JWT_JWKS_URL: keySet.url },
    });
    try {
      await gateway.pageWhen('/readyz', ({ status }) => status === 200);
      for (const { httpGet } of [container.startupProbe, container.readinessProbe, container.livenessProbe]) {
        expect({ httpGet, status: (await gateway.page(httpGet.path)).status }).toEqual({ httpGet, status: 200 });
      }
      expect(await healthCheck(gateway)).toBe(0);
    } finally {
      await gateway.kill();
      keySet.close();
    }
    expect(await healthCheck(gateway)).toBe(1);
  });
});

/** A key set such as a login service has. */
async function startKeySet() {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'ES256', use: 'sig' }];
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/keys`, close: () => server.close() };
}

/** Runs the image's health check as an engine would, and gives its exit code. */
async function healthCheck({ management }: GatewayProcess): Promise<unknown> {
  const [node = '', ...args] = command(only('HEALTHCHECK')[0]);
  expect(node).toBe('node');
  const child = spawn(process.execPath, args, { env: { MANAGEMENT_PORT: new URL(management).port } });
  const [code] = await once(child, 'exit');
  return code;
}

// Compose.

const composeService = z.object({
  build: z.object({ context: z.string(), dockerfile: z.string() }).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  secrets: z.array(z.string()).default([]),
  depends_on: z.record(z.string(), z.object({ condition: z.literal('service_healthy') })).default({}),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
  command: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
});
const compose = z
  .object({
    services: z.object({ gateway: composeService, reference: composeService }).catchall(composeService),
    secrets: z.record(z.string(), z.object({ file: z.string() })),
  })
  .parse(parse(read('deploy/compose.yaml')));
const { gateway, reference } = compose.services;

describe('with compose', () => {
  test('the gateway’s settings are known and can be run with', () => {
    const env = { ...imageEnv, ...gateway.environment };
    expect(unknown(gateway.environment, GATEWAY)).toEqual([]);
    const config = loadConfig(here(env, '/run/secrets'));
    expect(config.rest.baseUrl?.href).toBe(`http://reference:${referenceEnv['REFERENCE_PORT']}/`);
    expect(config.auth.kind).toBe('tokens');
  });

  test('the reference service’s settings are known and can be run with, with the password in its address', () => {
    const env = { ...referenceEnv, ...reference.environment };
    expect(unknown(reference.environment, REFERENCE)).toEqual([]);
    const DATABASE_URL = /DATABASE_URL="(.*?)"/
      .exec(reference.command.join(' '))?.[1]
      ?.replace(/\$\$\(.*?\)/, 'password');
    const config = loadReferenceConfig(here({ ...env, DATABASE_URL: DATABASE_URL ?? '' }, '/run/secrets'));
    expect(config.databaseUrl).toBe('postgres://referral:password@postgres:5432/referral');
    expect(reference.command.join(' ')).toContain(`exec ${command(restsOf(stageOf('reference'), 'CMD')[0]).join(' ')}`);
  });

  test.each(Object.entries(compose.services))('%s: its secrets, files and dependencies are there', (_name, one) => {
    expect(one.secrets.filter((name) => !(name in compose.secrets))).toEqual([]);
    const mentioned = [...JSON.stringify(one).matchAll(/\/run\/secrets\/([\w-]+)/g)].map(([, name]) => name);
    expect([...new Set(mentioned)].sort()).toEqual([...one.secrets].sort());
    const needed = Object.keys(one.depends_on);
    expect(needed.filter((other) => compose.services[other]?.healthcheck === undefined)).toEqual([]);
    const { build } = one;
    expect(build === undefined || existsSync(join(root, 'deploy', build.context, build.dockerfile))).toBe(true);
  });

  test('the documented commands make the secrets and a token for them', () => {
    const folder = mkdtempSync(join(tmpdir(), 'compose-'));
    const commands = [...read('deploy/compose.yaml').matchAll(/^# {3}(.*)$/gm)].map(([, line]) => line);
    // npm runs a script in the root of the repository; there is no engine here.
    const stubs = `docker() { :; }; npm() { shift 3; (cd .. && node "${join(root, 'dist/process/token.js')}" "$@"); }`;
    mkdirSync(join(folder, 'deploy'));
    const script = [stubs, 'umask 077', ...commands].join('\n');
    const printed = execFileSync('sh', ['-euc', script], { cwd: folder, encoding: 'utf8' });
    expect(printed).toMatch(/eyJ[\w-]+\.[\w-]+\.[\w-]+/);
    expect(
      readdirSync(join(folder, 'deploy/secrets'))
        .map((name) => `./secrets/${name}`)
        .sort(),
    ).toEqual(
      Object.values(compose.secrets)
        .map(({ file }) => file)
        .sort(),
    );
    rmSync(folder, { recursive: true });
  });

  test('nginx fits the gateways behind it', () => {
    const conf = read('deploy/nginx.conf');
    const config = loadConfig(here({ ...imageEnv, ...gateway.environment }, '/run/secrets'));
    const directive = (name: string) => new RegExp(`^ +${name} (.*?)(?:k|s)?;`, 'm').exec(conf)?.[1];
    const upstream = /upstream gateway {(.*?)\n {2}}/s.exec(conf)?.[1] ?? '';
    expect(upstream).toContain(`server gateway:${imageEnv['PORT']} resolve;`);
    expect(Number(/keepalive_timeout (\d+)s/.exec(upstream)?.[1]) * 1_000).toBeLessThan(config.keepAliveTimeoutMs);
    expect(Number(directive('client_max_body_size')) * 1_024).toBe(config.limits.bodyBytes);
    expect(Number(directive('proxy_read_timeout')) * 1_000).toBeGreaterThan(config.operationTimeoutMs);
    expect(conf).toContain('proxy_pass http://gateway;');
    expect(compose.services['nginx']?.ports).toEqual([`127.0.0.1:4000:${directive('listen')}`]);
    expect(gateway.ports).toEqual([]);
  });

  test('Redis keeps every key, also through a restart', () => {
    expect(compose.services['redis']?.command.join(' ')).toBe(
      'redis-server --appendonly yes --maxmemory 128mb --maxmemory-policy noeviction',
    );
  });

  test('the reference service is healthy when it is ready, not with any answer', () => {
    expect(reference.healthcheck?.test.join(' ')).toMatch(
      /\/readyz'\)\.then\(\(\{ ok \}\) => process\.exit\(ok \? 0 : 1\)/,
    );
    expect(restsOf(stageOf('reference'), 'HEALTHCHECK')[0]).toMatch(
      /\/readyz`\)\.then\(\(\{ ok \}\) => process\.exit\(ok \? 0 : 1\)/,
    );
  });

  test('secrets stand where nobody commits them', () => {
    expect(read('deploy/.gitignore').split('\n')).toContain('secrets/');
    expect(Object.values(compose.secrets).filter(({ file }) => !file.startsWith('./secrets/'))).toEqual([]);
  });
});

// Monitoring.

const alertFile = z.object({
  groups: z.tuple([
    z.object({
      rules: z.array(z.object({ alert: z.string(), expr: z.string(), annotations: z.object({ runbook: z.string() }) })),
    }),
  ]),
});
const alerts = alertFile.parse(parse(read('deploy/alerts.yaml'))).groups[0].rules;
const dashboard = z
  .object({ panels: z.array(z.object({ title: z.string(), targets: z.array(z.object({ expr: z.string() })) })) })
  .parse(JSON.parse(read('deploy/dashboard.json')));

describe('monitoring', () => {
  test('each alert has an entry in the runbook, and a test', () => {
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
    const gateway = await startProcess({
      REST_BASE_URL: 'http://127.0.0.1:1',
      REDIS_URL: 'redis://127.0.0.1:1',
    });
    try {
      await post(gateway.url, { query: '{ me { id } }' });
      const { text } = await gateway.pageWhen('/metrics', ({ text: page }) => page.includes('\nrest_calls_total{'));
      const asked = [...alerts, ...dashboard.panels.flatMap(({ targets }) => targets)].flatMap(({ expr }) =>
        [...expr.matchAll(/\b(?:gateway|rest|process|nodejs)_\w+/g)].map(([name]) => name),
      );
      expect(asked.length).toBeGreaterThan(20);
      const has = (name: string) => text.includes(`# TYPE ${name.replace(/_(?:bucket|count|sum)$/, '')} `);
      expect([...new Set(asked)].filter((name) => !has(name))).toEqual([]);
    } finally {
      await gateway.kill();
    }
  });

  const promtool = spawnSync('promtool', ['--version']).status === 0;
  (promtool ? test : test.skip)('promtool accepts the metrics', async () => {
    const gateway = await startProcess({ REST_BASE_URL: 'http://127.0.0.1:1' });
    try {
      await post(gateway.url, { query: '{ me { id } }' });
      const { text: input } = await gateway.pageWhen('/metrics', ({ text }) => text.includes('\nrest_calls_total{'));
      const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' });
      expect(stdout + stderr).toBe('');
      expect(status).toBe(0);
    } finally {
      await gateway.kill();
    }
  });
  (promtool ? test : test.skip)('promtool accepts the alerts, and each fires when it should', () => {
    const options = { cwd: join(root, 'deploy'), encoding: 'utf8' } as const;
    expect(spawnSync('promtool', ['check', 'rules', 'alerts.yaml'], options)).toMatchObject({ status: 0 });
    const { status, stdout } = spawnSync('promtool', ['test', 'rules', 'alerts.test.yaml'], options);
    expect({ status, stdout }).toMatchObject({ status: 0 });
  });

  test.each(['ingress.yaml', 'networkpolicy.yaml', 'servicemonitor.yaml'])('%s is about this deployment', (file) => {
    for (const document of parseAllDocuments(read(`deploy/${file}`))) expect(document.errors).toEqual([]);
    expect(read(`deploy/${file}`)).toContain('referral-gateway');
  });
});
