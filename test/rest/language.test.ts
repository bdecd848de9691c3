import { expect, test } from '@jest/globals';
import { failure, operation, start } from './setup.ts';

/** A service that has these languages, and refuses the others; what it was asked for. */
async function startWith(languages: string[]) {
  const asked: unknown[] = [];
  const started = await start();
  started.upstream.on('GET /player', ({ headers: { lang } }) => {
    asked.push(lang);
    const isKnown = lang === undefined || languages.includes(String(lang));
    return isKnown ? { json: { referralLink: `https://r.example/${lang}` } } : { status: 400, json: { code: 5 } };
  });
  return { ...started, asked };
}

test.each([
  ['en-US', ['en-US', 'en'], ['en-US']],
  ['EN-US', ['en'], ['EN-US', 'en']],
  ['de-AT', ['en'], ['de-AT', 'de', undefined]],
  ['de', ['en'], ['de', undefined]],
])('%s of %j is asked for as %j, one call of the budget for each further read', async (lang, languages, tags) => {
  const { rest, asked } = await startWith(languages);
  let taken = 0;
  const takeCall = () => {
    taken += 1;
  };
  const player = await rest.getPlayer('p1', lang, operation({ takeCall }));
  expect(player?.referralLink).toBe(`https://r.example/${tags.at(-1)}`);
  expect(asked).toEqual(tags);
  expect(taken).toBe(tags.length - 1);
});

test('a player that is refused in every language fails with the refusal', async () => {
  const { upstream, rest } = await start();
  upstream.on('GET /player', { status: 400 });
  const refusal = { code: 'UPSTREAM_REJECTED', status: 400 };
  expect(await failure(rest.getPlayer('p1', 'de-AT', operation()))).toMatchObject(refusal);
  expect(upstream.calls()).toHaveLength(3);
});

test('a language costs no call that the budget does not have', async () => {
  const { rest, asked } = await startWith([]);
  const takeCall = () => {
    throw new Error('used up');
  };
  await expect(rest.getPlayer('p1', 'de', operation({ takeCall }))).rejects.toThrow('used up');
  expect(asked).toEqual(['de']);
});
