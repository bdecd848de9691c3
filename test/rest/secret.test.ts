import { inspect } from 'node:util';
import { expect, test } from '@jest/globals';
import { reveal, secretOf } from '../../src/config/secret.ts';

test('a secret shows nowhere, and can be revealed', () => {
  const secret = secretOf('hunter2');
  const all = { showHidden: true, customInspect: false };
  const copies = [secret, { ...secret }, structuredClone(secret), new Error('no', { cause: secret })];
  const shown = [`${secret}`, inspect(secret), JSON.stringify({ secret }), ...copies.map((copy) => inspect(copy, all))];
  expect(shown.slice(0, 3)).toEqual(['[object KeyObject]', expect.stringMatching(/^SecretKeyObject/), '{"secret":{}}']);
  expect(shown.join()).not.toContain('hunter2');
  expect(reveal(secret)).toBe('hunter2');
});
