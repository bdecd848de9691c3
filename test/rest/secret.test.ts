import { inspect } from 'node:util';
import { expect, test } from '@jest/globals';
import { reveal, Secret } from '../../src/config/secret.ts';

test('a secret shows nowhere, and only a real one is revealed', () => {
  const secret = new Secret('hunter2');
  const all = { showHidden: true, customInspect: false };
  const copies = [secret, { ...secret }, structuredClone(secret), new Error('no', { cause: secret })];
  const shown = [`${secret}`, inspect(secret), JSON.stringify({ secret }), ...copies.map((copy) => inspect(copy, all))];
  expect(shown.slice(0, 3)).toEqual(['[secret]', '[secret]', '{}']);
  expect(shown.join()).not.toContain('hunter2');
  expect(reveal(secret)).toBe('hunter2');
  expect(() => reveal(Object.create(Secret.prototype))).toThrow('private member');
});
