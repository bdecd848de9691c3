import { describe, expect, test } from '@jest/globals';
import { MemoizeLast } from '../src/graphql/selection.ts';

describe('what was found last', () => {
  const node = {};
  const remember = (variables: string[], values: Record<string, unknown>) => {
    const last = new MemoizeLast<object, string>();
    last.set(node, variables, values, 'found');
    return (others: Record<string, unknown>) => last.get(node, others);
  };

  test.each([
    ['the same value', { limit: 50 }, { limit: 50 }, 'found'],
    ['another value', { limit: 50 }, { limit: 51 }, undefined],
    ['another variable that does not count', { limit: 50, id: 'a' }, { limit: 50, id: 'b' }, 'found'],
    ['missing both times', {}, {}, 'found'],
    ['missing, then null', {}, { limit: null }, undefined],
    ['null, then missing', { limit: null }, {}, undefined],
    ['a number, then a text of it', { limit: 50 }, { limit: '50' }, undefined],
  ])('%s', (_what, first, second, found) => {
    expect(remember(['limit'], first)(second)).toBe(found);
  });

  test('no variables: always', () => {
    expect(remember([], { limit: 1 })({ limit: 2 })).toBe('found');
  });

  test('one of several differs', () => {
    expect(remember(['page', 'limit'], { page: 1, limit: 2 })({ page: 2, limit: 2 })).toBeUndefined();
  });

  test('a variable by the name of what every object has is not kept', () => {
    const get = remember(['constructor', '__proto__'], {});
    expect(get({})).toBeUndefined();
    expect(get(JSON.parse('{"constructor": 7, "__proto__": 7}'))).toBeUndefined();
  });

  test.each([['a text'], [['a list']], [{ an: 'object' }]])(
    '%j is not kept, and what was kept before still holds',
    (value) => {
      const last = new MemoizeLast<object, string>();
      last.set(node, ['size'], { size: 5 }, 'found');
      last.set(node, ['size'], { size: value }, 'found with it');
      expect(last.get(node, { size: value })).toBeUndefined();
      expect(last.get(node, { size: 5 })).toBe('found');
    },
  );

  test('nothing for another node', () => {
    const last = new MemoizeLast<object, string>();
    last.set({}, [], {}, 'found');
    expect(last.get({}, {})).toBeUndefined();
  });
});
