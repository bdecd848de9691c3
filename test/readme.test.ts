import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startDemo } from './kit/demo.ts';
import type { TestGateway } from './kit/gateway.ts';

/* Every example of the README is run as it stands, against the demo player, and gives the answer that follows it. */
const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const BLOCK = /```graphql\n(?<operation>.*?)```(?<after>(?:(?!```graphql).)*?```json\n(?<answer>.*?)```)?/gs;
const examples = [...README.matchAll(BLOCK)].map(({ groups }) => ({
  operation: groups?.['operation'] ?? '',
  answer: groups?.['answer'],
}));

let demo: Awaited<ReturnType<typeof startDemo>>;
let gateway: TestGateway;
beforeAll(async () => {
  demo = await startDemo();
  gateway = demo.gateway;
});
afterAll(async () => {
  await demo.close();
});

test('there are examples, one of them with its answer', () => {
  expect(examples.length).toBeGreaterThanOrEqual(2);
  expect(examples.filter(({ answer }) => answer)).toHaveLength(1);
});

test.each(examples)('$operation', async ({ operation, answer }) => {
  const { data, errors } = await gateway.query(operation);
  expect(errors).toEqual([]);
  expect(data).toEqual(answer === undefined ? expect.anything() : JSON.parse(answer));
  for (const payload of Object.values<{ userErrors?: unknown[] }>(data)) expect(payload.userErrors ?? []).toEqual([]);
});

test('every variable the configuration reads is in the README, and it is at most 250 lines long', () => {
  const config = readFileSync(new URL('../src/config/config.ts', import.meta.url), 'utf8');
  const shape = config.slice(config.indexOf('const SHAPE'));
  const names = [...shape.matchAll(/^ {2}([A-Z][A-Z0-9_]+):/gm)].map(([, name]) => name ?? '');
  expect(names.length).toBeGreaterThan(40);
  const told = (name: string) =>
    README.includes(name) || README.includes(`${name.replace(/_(?:PER_SECOND|BURST)$/, '')}_…`);
  const abbreviated = /_(?:BURST|FILE|EXEMPT_SCOPE)$/;
  expect(names.filter((name) => !told(name) && !abbreviated.test(name))).toEqual([]);
  expect(README.split('\n').length).toBeLessThanOrEqual(250);
});
