import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { atEnd } from '../kit/at-end.ts';

/* The resources in deploy/ have the types of Kubernetes, of the Gateway API and of the Prometheus operator. */

const HERE = fileURLToPath(new URL('.', import.meta.url));
const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));
const TSC = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
const ENVOY = 'gateway.envoyproxy.io/v1alpha1';
/** The module with the types of a group. */
const MODULES: Record<string, string> = {
  'gateway.networking.k8s.io': '@kubernetes-models/gateway-api/gateway.networking.k8s.io',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator/monitoring.coreos.com',
};

interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
}

const resources = readdirSync(DEPLOY)
  .filter((file) => file.endsWith('.yaml'))
  .flatMap((file) =>
    parseAllDocuments(readFileSync(join(DEPLOY, file), 'utf8')).map((one) => one.toJS({ merge: true })),
  )
  .filter((one): one is Resource => typeof one?.kind === 'string');

const typeOf = ({ apiVersion, kind }: Resource) => {
  const [version = '', group] = apiVersion.split('/').reverse();
  if (apiVersion === ENVOY) return `import('./envoy-gateway.js').I${kind}`;
  const name = group === undefined ? '' : `${group}/`;
  const module =
    group !== undefined && MODULES[group] ? `${MODULES[group]}/${version}` : `kubernetes-models/${name}${version}`;
  return `import('${module}').I${kind}`;
};

/** Compiles resources as values of their types, and returns what the compiler says. */
async function complaintsOn(name: string, values: readonly Resource[]): Promise<string> {
  const file = join(HERE, `${name}.generated.ts`);
  const lines = values.map((value, index) => `export const r${index}: ${typeOf(value)} = ${JSON.stringify(value)};`);
  writeFileSync(file, `${lines.join('\n')}\n`);
  atEnd(async () => rmSync(file));
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--typeRoots', 'none', file];
  return promisify(execFile)(process.execPath, [TSC, ...options], { cwd: HERE }).then(
    () => '',
    ({ stdout }) => stdout,
  );
}

test('each resource has the type of its kind', async () => {
  expect(resources.length).toBeGreaterThanOrEqual(9);
  expect(await complaintsOn('resources', resources)).toBe('');
});

test('a member that does not exist, and a value of another type, are found', async () => {
  const [first] = resources.filter(({ kind }) => kind === 'Deployment');
  const broken = [
    { ...first, apiVersion: 'apps/v1', kind: 'Deployment', spec: { replica: 2, selector: {}, template: {} } },
    { apiVersion: 'v1', kind: 'Service', spec: { ports: [{ port: 'http' }] } },
    {
      ...resources.find(({ kind }) => kind === 'BackendTrafficPolicy'),
      kind: 'ClientTrafficPolicy',
      apiVersion: ENVOY,
    },
  ];
  const complaints = await complaintsOn('broken', broken);
  expect(complaints).toMatch(/'"replica"' does not exist in type 'IDeploymentSpec'/);
  expect(complaints).toMatch(/Type 'string' is not assignable to type 'number'/);
  expect(complaints).toMatch(/'"connectionIdleTimeout"' does not exist in type/);
});
