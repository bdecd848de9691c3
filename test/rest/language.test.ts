import { describe, expect, test } from '@jest/globals';
import type { Received, Script } from '../kit/upstream.ts';
import { failure, operation, start } from './setup.ts';

/** A service that has these languages, and refuses the others. */
const withLanguages =
  (...languages: string[]): Script =>
  ({ headers: { lang }, playerUniqueId }: Received) =>
    lang === undefined || languages.includes(String(lang))
      ? { json: { playerUniqueId, referralLink: `https://r.example/${lang ?? 'default'}` } }
      : { status: 400, json: { code: 5, message: 'Lang' } };

const linkIn = (lang: string) => ({ referralLink: `https://r.example/${lang}` });
const languagesSeen = (requests: Received[]) => requests.map(({ headers }) => headers['lang']);

describe('a language that the account does not have', () => {
  test.each([
    ['en-US', ['en'], 'en', ['en-US', 'en']],
    ['en_US', ['en'], 'en', ['en_US', 'en']],
    ['de-AT', ['en'], 'default', ['de-AT', 'de', undefined]],
    ['de', ['en'], 'default', ['de', undefined]],
    ['en-US', ['en-US', 'en'], 'en-US', ['en-US']],
  ])('%s of %j is read in %s', async (lang, languages, expected, seen) => {
    const { upstream, rest } = await start();
    upstream.on('GET /player', withLanguages(...languages));
    const extraCalls: true[] = [];
    const op = operation({ takeCall: () => void extraCalls.push(true) });
    expect(await rest.getPlayer('p1', lang, op)).toMatchObject(linkIn(expected));
    expect(languagesSeen(upstream.requests)).toEqual(seen);
    expect(extraCalls).toHaveLength(seen.length - 1);
  });

  test('is asked for again by the next call: an odd 400 takes a language from nobody', async () => {
    const { upstream, rest } = await start();
    upstream.on('GET /player', { status: 400 }, 'usual');
    await rest.getPlayer('p1', 'de', operation());
    upstream.forget();
    await rest.getPlayer('p2', 'de', operation());
    expect(languagesSeen(upstream.requests)).toEqual(['de']);
  });

  test('fails with the refusal when no language is accepted', async () => {
    const { upstream, rest } = await start();
    upstream.on('GET /player', { status: 400 });
    expect(await failure(rest.getPlayer('p1', 'de-AT', operation()))).toMatchObject({
      code: 'UPSTREAM_REJECTED',
      status: 400,
    });
    expect(upstream.calls()).toHaveLength(3);
  });

  test('costs no call that the budget does not have', async () => {
    const { upstream, rest } = await start();
    upstream.on('GET /player', withLanguages('en'));
    const takeCall = () => {
      throw new Error('used up');
    };
    await expect(rest.getPlayer('p1', 'de', operation({ takeCall }))).rejects.toThrow('used up');
    expect(upstream.calls()).toHaveLength(1);
  });
});
