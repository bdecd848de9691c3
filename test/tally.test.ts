/* prom-client says what a counter and a histogram tell Prometheus; a tally must say the same, to the byte. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { AggregatorRegistry, Counter, Histogram, Registry } from 'prom-client';
import { Tally } from '../src/telemetry/metrics.ts';

const BUCKETS = [0.005, 0.5, 1, 10];
const names = fc.constantFrom('GET', 'POST', 'with "quotes"', 'constructor', '__proto__', '');
const values = fc.oneof(fc.constantFrom(0, ...BUCKETS), fc.double({ min: 0, max: 20, noNaN: true }));

/** The same counts, kept both ways. */
function count(counts: readonly [string, string, number][]): [Registry, Registry] {
  const [theirs, ours] = [new Registry(), new Registry()];
  const common = { name: 'calls', help: 'Calls.' };
  const durations = { name: 'seconds', help: 'How\nlong.', buckets: BUCKETS };
  const counter = new Counter({ ...common, labelNames: ['method', 'status'], registers: [theirs] });
  const histogram = new Histogram({ ...durations, labelNames: ['method', 'status'], registers: [theirs] });
  const labels = (method: string, status: string) => ({ method, status });
  const calls = new Tally({ ...common, labels, registers: [ours] });
  const seconds = new Tally({ ...durations, labels, registers: [ours] });
  for (const [method, status, value] of counts) {
    counter.inc(labels(method, status), value);
    calls.add(value, method, status);
    histogram.observe(labels(method, status), value);
    seconds.add(value, method, status);
  }
  return [theirs, ours];
}

const someCounts = fc.array(fc.tuple(names, names, values), { maxLength: 60 });

test('what Prometheus is told', () =>
  fc.assert(
    fc.asyncProperty(someCounts, async (counts) => {
      const [theirs, ours] = count(counts);
      expect(await ours.metrics()).toBe(await theirs.metrics());
    }),
  ));

test('what several processes tell together', () =>
  fc.assert(
    fc.asyncProperty(someCounts, someCounts, async (one, other) => {
      const [[theirs, ours], [theirOther, ourOther]] = [count(one), count(other)];
      const together = async (...registries: Registry[]) => {
        const told = await Promise.all(registries.map((registry) => registry.getMetricsAsJSON()));
        return await AggregatorRegistry.aggregate(JSON.parse(JSON.stringify(told))).metrics();
      };
      expect(await together(ours, ourOther)).toBe(await together(theirs, theirOther));
    }),
  ));
