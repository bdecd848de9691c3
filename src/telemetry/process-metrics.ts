import { readFileSync } from 'node:fs';
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import { metricsIn } from './metrics.ts';

/** Gauges of prom-client that `promtool check metrics` refuses: sums of the gauges without `_total`. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** Metrics of a process: Node's own, the gateway's version and start time, and whether Redis is up. */
export function showProcess(registry: Registry, redis: { isUp(): boolean } | undefined): void {
  const { gauge } = metricsIn(registry);
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const help = 'Always 1; the label is the version of the gateway.';
  const build = new Gauge({ name: 'gateway_build_info', help, labelNames: ['version'], registers: [registry] });
  build.set({ version: readVersion() }, 1);
  const startedAt = Date.now() / 1_000 - process.uptime();
  gauge('gateway_start_time_seconds', 'When the process started, in seconds since 1970.', () => startedAt);
  if (redis) gauge('gateway_redis_up', 'Whether Redis answered the last time.', () => Number(redis.isUp()));
}

/** package.json is next to dist/. This module is one directory deeper in src/ than in its bundle. */
function readVersion(): string {
  for (const path of ['../package.json', '../../package.json']) {
    try {
      return String(JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')).version);
    } catch {
      // The other one is there.
    }
  }
  return 'unknown';
}
