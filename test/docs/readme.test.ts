import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { startDemo } from '../kit/demo.ts';

/* Every example of the README is run as it stands, against the demo player, and gives the answer that follows it. */
const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const BLOCK = /```graphql\n(.*?)```(?:(?:(?!```graphql).)*?```json\n(.*?)```)?/gs;
const examples = [...README.matchAll(BLOCK)].map(([, operation = '', answer]) => ({ operation, answer }));

const demo = await startDemo();

test('there are examples, one of them with its answer', () => {
  expect(examples.length).toBeGreaterThanOrEqual(2);
  expect(examples.filter(({ answer }) => answer)).toHaveLength(1);
});

test.each(examples)('$operation', async ({ operation, answer }) => {
  const { data, errors } = await demo.query(operation);
  expect(errors).toEqual([]);
  expect(data).toEqual(answer === undefined ? expect.anything() : JSON.parse(answer));
  for (const payload of Object.values<{ userErrors?: unknown[] }>(data)) expect(payload.userErrors ?? []).toEqual([]);
});
