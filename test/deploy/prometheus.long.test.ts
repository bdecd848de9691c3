import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { atEnd, newFolder } from '../kit/at-end.ts';
import { post } from '../kit/post.ts';
import { startProcess } from '../kit/process.ts';
import { freePort } from '../kit/redis.ts';
import { UNLIMITED } from '../kit/tokens.ts';
import { until } from '../kit/until.ts';
import { startUpstream } from '../kit/upstream.ts';

/* A real Prometheus that scrapes the built gateway, with the alerts, the dashboard and the queries of the operator's pages. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const isInstalled = spawnSync('prometheus', ['--version']).status === 0;

const pages = ['operations', 'deployment', 'observability'].map((name) => read(`docs/${name}.md`)).join('\n');
const inText = [...pages.matchAll(/`((?:sum|topk|max|rate|histogram_quantile)[ (][^`]*)`/g)];
const inBlocks = [...pages.matchAll(/^ *```promql\n(.*?)^ *```/gms)];
const inDashboard = [...read('deploy/dashboard.json').matchAll(/"expr": ?("(?:[^"\\]|\\.)*")/g)];
const queries: string[] = [
  ...inText.map(([, query = '']) => query),
  ...inBlocks.flatMap(([, block = '']) => block.split('\n').filter((line) => /^\s*[^#\s]/.test(line))),
  ...inDashboard.map(([, text = '""']) =>
    JSON.parse(text)
      .replaceAll('$__rate_interval', '1m')
      .replace(/\$(?:job|namespace)/g, '.*'),
  ),
];

async function startPrometheus(target: string): Promise<(path: string) => Promise<{ status: string; data: never }>> {
  const folder = newFolder();
  const port = await freePort();
  const scrape = {
    job_name: 'referral-gateway',
    static_configs: [{ targets: [target], labels: { namespace: 'test' } }],
  };
  const rules = { rule_files: [join(ROOT, 'deploy/alerts.yaml')] };
  const times = { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '500ms' };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ global: times, scrape_configs: [scrape], ...rules }));
  const options = ['--config.file=config.json', '--storage.tsdb.path=data', `--web.listen-address=127.0.0.1:${port}`];
  const child = spawn('prometheus', options, { cwd: folder, stdio: 'ignore' });
  const ended = once(child, 'exit');
  atEnd(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const ask = async (path: string) => (await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)).json();
  await until(() =>
    ask('status/runtimeinfo').then(
      () => true,
      () => false,
    ),
  );
  return ask;
}

(isInstalled ? test : test.skip)(
  'Prometheus evaluates each alert and each query of the documents and the dashboard, and sees a gateway that is gone',
  async () => {
    const upstream = await startUpstream();
    const gateway = await startProcess({ ...UNLIMITED, REST_BASE_URL: upstream.url, REST_TIMEOUT_MS: '2000' });
    const ask = await startPrometheus(new URL(gateway.management).host);
    upstream.on('GET /coupon', { status: 500 });
    for (const query of ['{ me { id coupons { code } } }', '{ nothing }', '{ me { attributes { city } } }']) {
      for (let time = 0; time < 5; time += 1) await post(gateway.url, { query });
    }
    const valuesOf = async (query: string) => {
      const answer: { status: string; error?: string; data?: { result: { value: [number, string] }[] } } = await ask(
        `query?query=${encodeURIComponent(query)}`,
      );
      expect([query, answer.status, answer.error]).toEqual([query, 'success', undefined]);
      return answer.data?.result.map(({ value }) => Number(value[1])) ?? [];
    };
    await until(async () => (await valuesOf('gateway_operations_total')).length > 0);
    expect(inBlocks.length).toBeGreaterThan(5);
    expect(queries.length).toBeGreaterThan(40);
    for (const query of queries) await valuesOf(query);

    const { data }: { data: { groups: { rules: { name: string; health: string; query: string }[] }[] } } =
      await ask('rules');
    const rules = data.groups.flatMap((group) => group.rules);
    await until(async () => {
      const now: typeof data = (await ask('rules')).data;
      return now.groups.every((group) => group.rules.every(({ health }) => health === 'ok'));
    });
    expect(rules.length).toBeGreaterThan(20);

    // Nobody can scrape it any more.
    gateway.child.kill('SIGKILL');
    await until(async () => (await valuesOf('ALERTS{alertname="GatewayDown", alertstate="pending"}')).includes(1));
  },
);
