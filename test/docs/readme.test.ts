import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startDemo } from '../kit/demo.ts';
import type { TestGateway } from '../kit/gateway.ts';

/* Every example of the README is run as it stands, against the demo player, and gives the answer that follows it. */
const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
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
