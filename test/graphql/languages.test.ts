import { beforeEach, expect, test } from '@jest/globals';
import { startBoth } from '../kit/gateway.ts';

/* A player in a language that the account may not have. */
const few = await startBoth({ MAX_UPSTREAM_CALLS: '4' });
beforeEach(() => few.upstream.reset());

/** The links that a service with these languages gives, the languages it was asked for, and the codes of the errors. */
async function ask(selection: string, languages: string[], status = 400) {
  const asked: unknown[] = [];
  few.upstream.on('GET /player', ({ headers: { lang } }) => {
    asked.push(lang);
    const isKnown = lang === undefined || languages.includes(String(lang));
    return isKnown ? { json: { referralLink: `https://r.example/${lang}` } } : { status, json: { code: 5 } };
  });
  const { data, codes } = await few.gateway.query(`{ me: player(playerUniqueId: "p1") { ${selection} } }`);
  return { links: data.me && Object.values(data.me), asked, codes };
}

test.each([
  ['en-US', ['en-US', 'en'], ['en-US'], 400],
  ['EN-US', ['en'], ['EN-US', 'en'], 422],
  ['EN', ['en'], ['EN', 'en'], 400],
  ['de-AT', ['en'], ['de-AT', 'de', undefined], 422],
])('%s of %j is asked for as %j where the service answers %d', async (lang, languages, asked, status) => {
  const links = [`https://r.example/${asked.at(-1)}`];
  expect(await ask(`referralLink(lang: "${lang}")`, languages, status)).toEqual({ links, asked, codes: [] });
});

test('each language is asked for once, whatever leads to it', async () => {
  const [fr, de] = ['a: referralLink(lang: "fr") b: referralLink(lang: "fr-CH")', 'c: referralLink(lang: "de")'];
  const { links, asked } = await ask(`${fr} ${de} referralLink`, []);
  expect([new Set(links), asked.map(String).sort()]).toEqual([
    new Set(['https://r.example/undefined']),
    ['de', 'fr', 'fr-CH', 'undefined'],
  ]);
});

test('a busy player is not asked for in another language', async () => {
  few.upstream.on('GET /player', { status: 422, json: { code: 2001 } });
  const { codes } = await few.gateway.query('{ me: player(playerUniqueId: "p1") { referralLink(lang: "fr-CH") } }');
  const asked = new Set(few.upstream.requests.map(({ headers: { lang } }) => lang));
  expect([codes, asked]).toEqual([['UPSTREAM_UNAVAILABLE'], new Set(['fr-CH'])]);
});

test('a language costs no call that the operation does not have', async () => {
  const { asked, codes } = await ask('referralLink a: referralLink(lang: "fr-CH") b: referralLink(lang: "de-AT")', []);
  expect([asked.length, codes]).toEqual([3, ['OPERATION_TOO_COMPLEX', 'OPERATION_TOO_COMPLEX']]);
});
