import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { startDemo } from '../kit/demo.ts';

/* Every example of the README is run as it stands, against the demo player, and gives the answer that follows it. */
const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const BLOCK = /```graphql\n(.*?)```(?:(?:(?!```graphql).)*?```json\n(.*?)```)?/gs;
const examples = [...README.matchAll(BLOCK)].map(([, operation = '', answer]) => ({ operation, answer }));

const demo = await startDemo();

test('one of several examples has its answer', () => {
  expect(examples.map(({ answer }) => typeof answer).sort()).toEqual(['string', 'undefined', 'undefined']);
});

test.each(examples)('$operation', async ({ operation, answer }) => {
  const { data, errors } = await demo.query(operation);
  expect(errors).toEqual([]);
  expect(data).toEqual(answer === undefined ? expect.anything() : JSON.parse(answer));
  for (const payload of Object.values<{ userErrors?: unknown[] }>(data)) expect(payload.userErrors ?? []).toEqual([]);
});
