import { beforeAll, describe, expect, test } from '@jest/globals';
import { chooseLanguage, LANDING_LANGUAGES } from '../../src/reference/landing/texts.ts';
import type { Client } from './client.ts';
import { programmeWith } from './programmes.ts';
import { onEachStore } from './stores.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

onEachStore('the landing page', (service) => {
  let client: Client;
  let path: string;
  beforeAll(async () => {
    client = service().client;
    path = new URL((await client.upsert('host')).body.referralLink).pathname;
  });
  const post = (body: string, query = '') => client.call('POST', `${path}${query}`, body, FORM);
  const contacts = () =>
    service().reference.store.read((queries) =>
      queries.selectFrom('contacts').select(['kind', 'value']).orderBy('id').execute(),
    );

  test('is a page that works without JavaScript, loads nothing, is kept nowhere and needs no key', async () => {
    const page = await fetch(`${service().reference.url}${path}`);
    const html = await page.text();
    expect(page.status).toBe(200);
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'content-language': 'en',
    });
    expect(html).not.toMatch(/<script|src=|https?:/i);
    expect(html).toContain('<html lang="en">');
    expect(html).toContain('<form method="post">');
    expect(html).toMatch(
      /<label for="contact">Your e-mail address<\/label>\n<input id="contact" name="contact" type="email"/,
    );
    expect(html).not.toContain('host');
  });

  test('says the same to everybody, whether the contact is known or not', async () => {
    await client.upsert('guest', { email: 'guest@example.com' });
    const [once, again, ofPlayer] = [
      await post('contact=a%40b.c'),
      await post('contact=a%40b.c'),
      await post('contact=guest%40example.com'),
    ];
    expect(once).toMatchObject({ status: 200, text: expect.stringContaining('<p role="status">Thank you!') });
    expect([again.text, ofPlayer.text]).toEqual([once.text, once.text]);
    expect(await contacts()).toEqual([
      { kind: 'email', value: 'a@b.c' },
      { kind: 'email', value: 'guest@example.com' },
    ]);
  });

  test.each([
    ['', ''],
    ['contact=', ''],
    ['contact=no+address', 'no address'],
    ['contact=%22%3E%3Cscript%3E%26%27', '&quot;&gt;&lt;script&gt;&amp;&#39;'],
    [`contact=${'x'.repeat(300)}%40b.c`, `${'x'.repeat(300)}@b.c`],
    ['contact=a%00%40b.c', 'a\0@b.c'],
  ])('asks again when %j is no e-mail address, escaping what was typed', async (body, shown) => {
    const before = await contacts();
    const page = await post(body);
    expect(page.status).toBe(400);
    expect(page.text).toContain('<p id="problem" role="alert">Please enter an e-mail address');
    expect(page.text).toContain(`value="${shown}" aria-invalid="true" aria-describedby="problem"`);
    expect(await contacts()).toEqual(before);
  });

  test.each(['GET', 'POST'])('%s of an unknown code is a page of its own', async (method) => {
    for (const code of ['unknown', '%00', 'x'.repeat(500), "'%20or%201=1"]) {
      const page = await client.call(
        method,
        `/r/${code}`,
        method === 'POST' ? 'contact=a%40b.c' : undefined,
        method === 'POST' ? FORM : {},
      );
      expect(page).toMatchObject({
        status: 404,
        text: expect.stringContaining('<h1>This invitation does not exist.</h1>'),
      });
    }
  });

  test.each([
    ['', 'de-CH, en;q=0.5', 'de', 'Deine E-Mail-Adresse'],
    ['?lang=fr', 'de', 'fr', 'Votre adresse e-mail'],
    ['?lang=tlh', 'es', 'es', 'Tu correo electrónico'],
    ['?lang=de&lang=fr', 'it', 'en', 'Your e-mail address'],
    ['?lang=%22%3E', '', 'en', 'Your e-mail address'],
  ])('%j for a browser of %j speaks %s', async (query, accepted, language, words) => {
    const page = await client.call('GET', `${path}${query}`, undefined, { 'accept-language': accepted });
    expect(page.text).toContain(`<html lang="${language}">`);
    expect(page.text).toContain(words);
    expect(page.headers.get('content-language')).toBe(language);
    const sent = await client.call('POST', `${path}${query}`, 'contact=x%40y.z', {
      ...FORM,
      'accept-language': accepted,
    });
    expect(sent.text).toContain(`<html lang="${language}">`);
  });

  test('takes a form and nothing else, and no large one', async () => {
    expect(
      await client.call('POST', path, '{"contact":"a@b.c"}', { 'content-type': 'application/json' }),
    ).toMatchObject({
      status: 415,
      body: { code: 415 },
    });
    expect(await post(`contact=${'x'.repeat(5000)}`)).toMatchObject({ status: 413, body: { code: 413 } });
  });
});

onEachStore(
  'the landing page of a programme by mobile, in its own words',
  (service) => {
    test('asks for a mobile number', async () => {
      const { client } = service();
      const link = new URL((await client.upsert('host')).body.referralLink).pathname;
      const page = await client.call('GET', link);
      expect(page.text).toContain('type="tel"');
      expect(page.text).toContain('<label for="contact">Il tuo &lt;numero&gt;</label>');
      expect(page.text).toContain('<html lang="it">');
      expect((await client.call('POST', link, 'contact=1234', FORM)).text).toContain(
        '<p id="problem" role="alert">No!</p>',
      );
      expect((await client.call('POST', link, 'contact=%2B39+06+1234', FORM)).text).toContain('Grazie');
    });
  },
  {
    programme: programmeWith({
      contact: 'mobile',
      languages: ['it'],
      texts: {
        it: {
          title: 'Un amico ti invita',
          email: 'E-mail',
          mobile: 'Il tuo <numero>',
          send: 'Vai',
          thanks: 'Grazie',
          invalidEmail: 'No!',
          invalidMobile: 'No!',
          notFound: 'Niente',
        },
      },
    }),
  },
);

onEachStore(
  'the thanks page of a programme with a shop',
  (service) => {
    test('leads to the shop and hands on the code of the referral', async () => {
      const { client } = service();
      const { pathname } = new URL((await client.upsert('host')).body.referralLink);
      const code = pathname.slice('/r/'.length);
      const page = await client.call('POST', `${pathname}?lang=de`, 'contact=a%40b.c', FORM);
      expect(page.text).toContain(
        `<p><a href="https://shop.example/start?a=1&amp;b=%22&amp;referralCode=${code}#top">Weiter zum Shop</a></p>`,
      );
      expect((await client.call('GET', pathname)).text).not.toContain('shop.example');
    });
  },
  { programme: programmeWith({ shopUrl: 'https://shop.example/start?a=1&b="#top' }) },
);

onEachStore(
  'forms of the landing page',
  (service) => {
    const linkOf = async (id: string) => new URL((await service().client.upsert(id)).body.referralLink).pathname;
    const post = (path: string, number: number, from?: string) =>
      service().client.call('POST', path, `contact=c${number}%40example.com`, {
        ...FORM,
        ...(from && { 'x-forwarded-for': from }),
      });
    const statuses = async (replies: Promise<{ status: number }>[]) =>
      (await Promise.all(replies)).map(({ status }) => status).sort();

    test('are limited for each address', async () => {
      const paths = await Promise.all(['a', 'b', 'c', 'd'].map(linkOf));
      const replies = paths.flatMap((path) => [post(path, 1, '192.0.2.1'), post(path, 2, '192.0.2.1')]);
      expect(await statuses(replies)).toEqual([...Array(5).fill(200), ...Array(3).fill(429)]);
      expect((await post(paths[0] ?? '', 3, '192.0.2.2')).status).toBe(200);
      const refused = await post(paths[0] ?? '', 3, '192.0.2.1');
      expect(refused.text).toContain('<p role="alert">Too many attempts. Please try again in a minute.</p>');
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(50);
      // Reading the page is not limited.
      for (const path of paths) expect((await service().client.call('GET', path)).status).toBe(200);
    });

    test('are limited for each link, from however many addresses', async () => {
      const path = await linkOf('popular');
      const replies = Array.from({ length: 12 }, (_, number) => post(path, number, `198.51.100.${number}`));
      expect(await statuses(replies)).toEqual([...Array(8).fill(200), ...Array(4).fill(429)]);
      expect((await post(await linkOf('other'), 1, '198.51.100.1')).status).toBe(200);
      const { store } = service().reference;
      const { length } = await store.read((queries) =>
        queries
          .selectFrom('contacts')
          .innerJoin('players', 'players.id', 'contacts.referrer_id')
          .select('contacts.id')
          .where('player_unique_id', '=', 'popular')
          .execute(),
      );
      expect(length).toBe(8);
      expect(await (await fetch(`${service().reference.managementUrl}/metrics`)).text()).toMatch(
        /^reference_landing_forms_refused_total \d+$/m,
      );
    });

    test('from one IPv6 network are from one address', async () => {
      const paths = await Promise.all(['e', 'f', 'g'].map(linkOf));
      const replies = Array.from({ length: 9 }, (_, number) =>
        post(paths[number % 3] ?? '', number, `2001:db8:1:2::${number + 1}`),
      );
      expect(await statuses(replies)).toEqual([...Array(5).fill(200), ...Array(4).fill(429)]);
    });
  },
  { landingLimits: { perAddress: 5, perLink: 8 }, trustProxy: ['127.0.0.1'] },
);

describe('the language of a page', () => {
  test.each([
    [['en', 'de'], undefined, undefined, 'en'],
    [['en', 'de'], undefined, 'fr;q=0.9, de;q=0.8', 'de'],
    [['en', 'de'], undefined, 'de;q=0.1, en;q=0.2', 'en'],
    [['en', 'de'], undefined, 'de;q=0', 'en'],
    [['en', 'pt-BR'], undefined, 'PT-br', 'pt-BR'],
    [['en', 'de'], 'DE', 'en', 'de'],
    [['de', 'en'], undefined, '*;;,q=,=', 'de'],
    [['en', 'de'], undefined, 'fr ; q=0.9 , de ;q=0.8', 'de'],
    [['en', 'de'], undefined, 'de;level=1;q=0, en', 'en'],
    [['en', 'de'], undefined, `${' '.repeat(400)},de`, 'de'],
    [['en', 'de'], undefined, `${' '.repeat(15_000)},de`, 'en'],
  ])('of %j, asked for %j, by a browser of %j is %s', (languages, asked, accepted, language) => {
    expect(chooseLanguage(languages, asked, accepted)).toBe(language);
  });

  test('the built-in words cover the languages of the built-in programme', () => {
    expect(LANDING_LANGUAGES).toEqual(['en', 'de', 'es', 'fr']);
  });
});
