import { inspect } from 'node:util';
import { expect, test } from '@jest/globals';
import { reveal, Secret } from '../../src/config/secret.ts';

const secret = new Secret('hunter2');

test('a secret shows nowhere', () => {
  const all = { showHidden: true, customInspect: false };
  const copies = [secret, { ...secret }, structuredClone(secret), new Error('no', { cause: secret })];
  const shown = [`${secret}`, inspect(secret), JSON.stringify({ secret }), ...copies.map((copy) => inspect(copy, all))];
  expect(shown.slice(0, 3)).toEqual(['[secret]', '[secret]', '{}']);
  expect(shown.join()).not.toContain('hunter2');
});

test('only a real one is revealed', () => {
  expect(reveal(secret)).toBe('hunter2');
  const fake: Secret = Object.create(Secret.prototype);
  expect(() => reveal(fake)).toThrow('private member');
});
