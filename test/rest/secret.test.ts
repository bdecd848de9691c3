import { format, inspect } from 'node:util';
import { expect, test } from '@jest/globals';
import { reveal, Secret } from '../../src/config/secret.ts';

const secret = new Secret('hunter2');

test.each<[string, (value: Secret) => unknown]>([
  ['String', String],
  ['a template', (value) => `${value}`],
  ['inspect', (value) => inspect(value, { showHidden: true, depth: 10 })],
  ['inspect inside an object', (value) => inspect({ value }, { showHidden: true, customInspect: false })],
  ['format', (value) => format('%s %o %j', value, value, value)],
  ['JSON', (value) => JSON.stringify({ value, list: [value] })],
  ['entries', (value) => JSON.stringify([Object.entries(value), Object.getOwnPropertyNames(value)])],
  ['a copy', (value) => JSON.stringify({ ...value })],
  ['a structured clone', (value) => inspect(structuredClone(value), { showHidden: true })],
  ['an error', (value) => inspect(new Error('no', { cause: value }), { showHidden: true })],
])('a secret does not show in %s', (_way, print) => {
  expect(String(print(secret))).not.toContain('hunter2');
});

test('JSON leaves it out, and it prints as what it is', () => {
  expect(JSON.stringify({ secret })).toBe('{}');
  expect(`${secret}`).toBe('[secret]');
  expect(inspect(secret)).toBe('[secret]');
});

test('only a real one is revealed', () => {
  expect(reveal(secret)).toBe('hunter2');
  const fake: Secret = Object.create(Secret.prototype);
  expect(() => reveal(fake)).toThrow('private member');
});
