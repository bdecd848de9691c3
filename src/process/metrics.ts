import { readFileSync } from 'node:fs';
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import * as z from 'zod';
import type { RedisConnection } from './redis.ts';

/** Metrics of a process: Node's own, the gateway's version and start time, and whether Redis is up. */
export function registerProcessMetrics(registry: Registry, shared?: Pick<RedisConnection, 'isUp'> | undefined): void {
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  new Gauge({
    name: 'gateway_build_info',
    help: 'Always 1; the label is the version of the gateway.',
    labelNames: ['version'],
    registers,
  }).set({ version: VERSION }, 1);
  new Gauge({
    name: 'gateway_start_time_seconds',
    help: 'When the process started, in seconds since 1970.',
    registers,
  }).set(Date.now() / 1_000 - process.uptime());
  if (!shared) return;
  new Gauge({
    name: 'gateway_redis_up',
    help: 'Whether Redis is connected and answered the last time.',
    registers,
    collect() {
      this.set(shared.isUp() ? 1 : 0);
    },
  });
}

/** Gauges of prom-client that `promtool check metrics` refuses: sums of the gauges without `_total`. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** `version` of a package.json; undefined without one. */
function versionIn(path: string): string | undefined {
  try {
    const text = readFileSync(new URL(path, import.meta.url), 'utf8');
    return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
  } catch {
    return undefined;
  }
}

/** package.json is next to dist/. This module is one directory deeper in src/ than in its bundle. */
const VERSION = versionIn('../package.json') ?? versionIn('../../package.json') ?? 'unknown';
