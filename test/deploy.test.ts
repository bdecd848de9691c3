import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, jest, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { loadConfig } from '../src/config/config.ts';
import { settingsOf } from '../src/config/setting.ts';
import { SETTINGS } from '../src/config/settings.ts';
import { loadReferenceConfig } from '../src/reference/config.ts';
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

const GATEWAY = new Set(
  settingsOf(SETTINGS).flatMap(({ name, isSecret }) => (isSecret ? [name, `${name}_FILE`] : [name])),
);
// The reference service's settings are found in its source: it shares nothing with the gateway.
const REFERENCE = new Set(
  [...read('src/reference/config.ts').matchAll(/\b[A-Z]+(?:_[A-Z]+)+\b/g)].flatMap(([name]) => [name, `${name}_FILE`]),
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
const lastStage = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'));
const only = (name: string) => lastStage.filter((instruction) => instruction.name === name).map(({ rest }) => rest);
const imageEnv: Env = Object.fromEntries(
  only('ENV').flatMap((rest) => [...rest.matchAll(/(\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value])),
);
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

  test('holds production dependencies, runs a program of the build and is not root', () => {
    const stage = /AS dependencies\n[\s\S]*?npm ci --omit=dev/.test(read('deploy/Dockerfile'));
    expect(stage).toBe(true);
    expect(lastStage.map(({ rest }) => rest)).toContain('--from=dependencies /app/node_modules ./node_modules');
    const program = command(only('CMD')[0]);
    expect(program.at(-1)).toBe('dist/main.js');
    expect(JSON.parse(read('package.json')).scripts.start).toContain(` exec ${program.join(' ')}`);
    expect(read('README.md')).toContain(`\`${program.join(' ')}\``);
    expect(existsSync(join(root, 'dist/main.js'))).toBe(true);
    expect(only('USER')).toEqual(['1000:1000']);
  });

  test('sets what the programs know', () => {
    expect(unknown(imageEnv, new Set([...GATEWAY, ...REFERENCE]))).toEqual([]);
    expect(only('EXPOSE')).toEqual([
      `${imageEnv['PORT']} ${imageEnv['MANAGEMENT_PORT']} ${imageEnv['REFERENCE_PORT']}`,
    ]);
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
      replicas: z.number(),
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
              lifecycle: z.object({
                preStop: z.object({
                  exec: z.object({ command: z.tuple([z.literal('sleep'), z.string().transform(Number)]) }),
                }),
              }),
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
    const { preStop } = container.lifecycle;
    expect(pod.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(
      preStop.exec.command[1] + config.shutdownGraceMs / 1000 + 1,
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
      spec: { minAvailable: pod.replicas - 1, selector: { matchLabels: labels } },
    });
    expect(autoscaler).toMatchObject({
      kind: 'HorizontalPodAutoscaler',
      spec: {
        scaleTargetRef: { kind: 'Deployment', name: 'referral-gateway' },
        minReplicas: pod.replicas,
        metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization' } } }],
      },
    });
    expect(deployment).toMatchObject({ kind: 'Deployment', metadata: { name: 'referral-gateway' } });
    expect(pod.replicas).toBe(2);
  });

  test('a process with these settings answers the probes, and the image’s health check', async () => {
    const gateway = await startProcess({
      ...here(podEnv, podSecrets),
      ...{ HOST: '127.0.0.1', MANAGEMENT_HOST: '127.0.0.1', PORT: '0', MANAGEMENT_PORT: '0' },
      ...{ REST_API_KEY: '', REST_SECRET_KEY: '' },
    });
    try {
      await gateway.pageWhen('/readyz', ({ status }) => status === 200);
      for (const { httpGet } of [container.startupProbe, container.readinessProbe, container.livenessProbe]) {
        expect({ httpGet, status: (await gateway.page(httpGet.path)).status }).toEqual({ httpGet, status: 200 });
      }
      expect(await healthCheck(gateway)).toBe(0);
    } finally {
      await gateway.kill();
    }
    expect(await healthCheck(gateway)).toBe(1);
  });
});

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
    expect(config.rest.baseUrl?.href).toBe(`http://reference:${imageEnv['REFERENCE_PORT']}/`);
    expect(config.auth.kind).toBe('tokens');
  });

  test('the reference service’s settings are known and can be run with, with the password in its address', () => {
    const env = { ...imageEnv, ...reference.environment };
    expect(unknown(reference.environment, REFERENCE)).toEqual([]);
    const DATABASE_URL = /DATABASE_URL="(.*?)"/
      .exec(reference.command.join(' '))?.[1]
      ?.replace(/\$\$\(.*?\)/, 'password');
    const config = loadReferenceConfig(here({ ...env, DATABASE_URL: DATABASE_URL ?? '' }, '/run/secrets'));
    expect(config.databaseUrl).toBe('postgres://referral:password@postgres:5432/referral');
    expect(reference.command.join(' ')).toContain('exec node dist/reference/main.js');
    expect(existsSync(join(root, 'dist/reference/main.js'))).toBe(true);
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

  test('secrets stand where nobody commits them', () => {
    expect(read('deploy/.gitignore').split('\n')).toContain('secrets/');
    expect(Object.values(compose.secrets).filter(({ file }) => !file.startsWith('./secrets/'))).toEqual([]);
  });
});
