import { describe, expect, test } from '@jest/globals';
import { LastFound } from '../src/gateway/last-found.ts';

describe('what was found last', () => {
  const node = {};
  const remember = (variables: string[], values: Record<string, unknown>) => {
    const last = new LastFound<object, string>();
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
    ['lists are never taken for the same', { limit: [1] }, { limit: [1] }, undefined],
  ])('%s', (_what, first, second, found) => {
    expect(remember(['limit'], first)(second)).toBe(found);
  });

  test('no variables: always', () => {
    expect(remember([], { limit: 1 })({ limit: 2 })).toBe('found');
  });

  test('one of several differs', () => {
    expect(remember(['page', 'limit'], { page: 1, limit: 2 })({ page: 2, limit: 2 })).toBeUndefined();
  });

  test('a variable by the name of what every object has', () => {
    const get = remember(['constructor', '__proto__'], {});
    expect(get({})).toBe('found');
    expect(get({ constructor: 7 })).toBeUndefined();
    expect(get(JSON.parse('{"__proto__": {}}'))).toBeUndefined();
  });

  test('nothing for another node', () => {
    const last = new LastFound<object, string>();
    last.set({}, [], {}, 'found');
    expect(last.get({}, {})).toBeUndefined();
  });
});
