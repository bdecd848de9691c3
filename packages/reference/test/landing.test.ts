import { beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import builtIn from '../programme.json' with { type: 'json' };
import { contentOf, onEachStore, programmeWith, STORES, startReference } from './kit.ts';

onEachStore('the landing page', (client, service) => {
  let path: string;
  beforeAll(async () => {
    await client.upsert('host');
    path = await client.linkOf('host');
  });
  const contacts = async () => (await contentOf(service())).contacts;

  test('works without JavaScript and without a key, and does not name the owner of the link', async () => {
    const html = await (await fetch(`${service().url}${path}`)).text();
    expect(html).not.toMatch(/<script|src=|https?:|host/i);
    expect(html).toContain('<form method="post" novalidate>\n<label for="contact">Your e-mail address</label>');
    expect(html).toContain('<input id="contact" name="contact" type="email"');
  });

  test('every response has the headers of a page that loads nothing and is not cached', async () => {
    const replies = [await client.call('GET', path), await client.call('GET', '/r/unknown')];
    for (const contact of ['header%40b.c', 'none']) replies.push(await client.post(path, `contact=${contact}`));
    expect(replies.map(({ status }) => status)).toEqual([200, 404, 200, 400]);
    const policy = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'";
    for (const { headers } of replies) {
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': `${policy}; frame-ancestors 'none'`,
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
        vary: 'accept-language',
      });
    }
  });

  test.each([
    ['', 'en', 'ltr'],
    ['ar-EG,ar;q=0.9,en;q=0.5', 'ar', 'rtl'],
    ['fr;q=0.2, DE-at; q=0.8, en;q=0.1', 'de', 'ltr'],
    ['ja, *;q=0.5', 'en', 'ltr'],
    ['de;q=0, es', 'es', 'ltr'],
    [';,;q=x,-,de-', 'de', 'ltr'],
  ])('for Accept-Language %j every page is in %s, written %s', async (accepted, language, direction) => {
    const headers = { 'accept-language': accepted };
    const get = (at: string) => client.call('GET', at, undefined, headers);
    const post = (contact: string) => client.post(path, String(new URLSearchParams({ contact })), headers);
    const pages = [await get(path), await get('/r/unknown'), await post('none'), await post(`${language}@b.example`)];
    const { title, email, submit, thanks, notFound } = builtIn.landing[language as keyof typeof builtIn.landing];
    const shown = [[title, email.label, submit], [notFound], [email.problem], [title, thanks]];
    for (const [index, { text, headers }] of pages.entries()) {
      expect(text).toContain(`<html lang="${language}" dir="${direction}">`);
      expect(headers.get('content-language')).toBe(language);
      for (const words of shown[index] ?? []) expect(text).toContain(`>${words.replaceAll("'", '&#39;')}<`);
    }
  });

  test('says the same to everybody, whether the contact is known or not', async () => {
    await client.upsert('guest', { email: 'guest@example.com' });
    const [once, again] = [await client.leave('host', 'a@b.c'), await client.leave('host', 'a@b.c')];
    const ofPlayer = await client.leave('host', 'guest@example.com');
    expect(once).toMatchObject({ status: 200, text: expect.stringContaining('<p role="status">Thank you!') });
    expect([again.text, ofPlayer.text]).toEqual([once.text, once.text]);
  });

  test.each([
    ['', ''],
    ['contact=%22%3E%3Cscript%3E%26%27', '&#34;&#62;&#60;script&#62;&#38;&#39;'],
    [`contact=${'x'.repeat(300)}%40b.c`, `${'x'.repeat(300)}@b.c`],
    ['contact=a%00%40b.c', 'a\0@b.c'],
    ['contact=m%E9l%40b.example', 'm\ufffdl@b.example'],
  ])('asks again when %j is no e-mail address, escaping what was typed', async (body, shown) => {
    const before = await contacts();
    const page = await client.post(path, body);
    expect(page.status).toBe(400);
    expect(page.text).toContain('<p id="problem" role="alert">Please enter an e-mail address');
    expect(page.text).toContain(`value="${shown}" aria-invalid="true" aria-describedby="problem"`);
    expect(await contacts()).toEqual(before);
  });

  test.each(['unknown', '%00', "'%20or%201=1"])('the code %s is unknown', async (code) => {
    const notFound = { status: 404, text: expect.stringContaining('<h1>This invitation does not exist.</h1>') };
    expect(await client.call('GET', `/r/${code}`)).toMatchObject(notFound);
    expect(await client.post(`/r/${code}`, 'contact=a%40b.c')).toMatchObject(notFound);
  });

  test.each(['/', '.', ')%E3%80%82', '%22%3E', '/?utm_source=chat'])(
    'the link works with %s behind it',
    async (end) => {
      expect(await client.call('GET', `${path}${end}`)).toMatchObject({ status: 200 });
      const before = await contacts();
      expect(
        await client.post(`${path}${end}`, `contact=${Buffer.from(end).toString('hex')}%40b.example`),
      ).toMatchObject({ status: 200 });
      expect(await contacts()).toHaveLength(before.length + 1);
    },
  );

  test('the form takes no text that is too large for it', async () => {
    const { text } = await client.call('GET', path);
    const longest = Number(/<input [^>]*maxlength="(\d+)"/.exec(text)?.[1]);
    expect(longest).toBeGreaterThanOrEqual(254);
    const body = String(new URLSearchParams({ contact: '語'.repeat(longest) }));
    expect(await client.post(path, body)).toMatchObject({ status: 400 });
  });

  test('takes a form and nothing else, and no large one', async () => {
    expect(await client.call('POST', path, { contact: 'a@b.c' })).toMatchObject({ status: 415 });
    expect(await client.post(path, `contact=${'x'.repeat(5000)}`)).toMatchObject({ status: 413, body: { code: 413 } });
  });
});

let clock = Date.parse('2025-05-01');
const OPTIONS = {
  programme: programmeWith({ contact: 'mobile', shopUrl: 'https://shop.example/start?a=1&b="#top' }),
  ...{ landingPerMinute: 2, trustProxy: ['127.0.0.1'], now: () => clock },
};

onEachStore(
  'the landing page of a programme by mobile with a shop, for two forms a minute',
  (client, service) => {
    const linkOf = async (id: string) => {
      await client.upsert(id);
      return client.linkOf(id);
    };
    const post = (path: string, from: string) => client.post(path, 'contact=391234', { 'x-forwarded-for': from });
    /** The statuses of forms that are sent at once. */
    const all = async (path: string, addresses: string[]) =>
      (await Promise.all(addresses.map((from) => post(path, from)))).map(({ status }) => status).sort();

    test('asks for a mobile number, leads to the shop and hands on the code of the referral', async () => {
      const path = await linkOf('host');
      const { text } = await client.call('GET', path);
      expect(text).toMatch(/<label for="contact">Your mobile number<\/label>\n<input .*type="tel"/);
      expect(text).not.toContain('shop.example');
      expect((await client.leave('host', '1234')).text).toContain('Please enter a mobile number');
      const shop = `https://shop.example/start?a=1&#38;b=%22&#38;referralCode=${path.slice(3)}#top`;
      const thanks = (await client.leave('host', '+39 06 1234')).text;
      expect(thanks).toContain(`<p><a href="${shop}">Continue to the shop</a></p>`);
    });

    test('limits the forms of each address, an IPv6 network being one', async () => {
      const [one, other] = [await linkOf('one'), await linkOf('other')];
      expect(await all(one, ['2001:db8:1:2::1', '2001:db8:1:2::2', '2001:db8:1:2::3'])).toEqual([200, 200, 429]);
      const refused = await post(other, '2001:db8:1:2::4');
      expect(refused.text).toContain(
        '<p role="alert">The invitation cannot be accepted now. Please try again later.</p>',
      );
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(50);
      expect((await post(one, '192.0.2.2')).status).toBe(200);
      // Reading the page is not limited.
      expect((await client.call('GET', one, undefined, { 'x-forwarded-for': '2001:db8:1:2::4' })).status).toBe(200);
    });

    test('knows an address by each of its notations, and an IPv4 one inside of IPv6 from its neighbours', async () => {
      const path = await linkOf('notations');
      const notations = ['192.0.2.40', '::FFFF:192.0.2.40', '0:0:0:0:0:ffff:c000:228'];
      expect(await all(path, notations)).toEqual([200, 200, 429]);
      expect((await post(path, '0:0:0:0:0:FFFF:192.0.2.41')).status).toBe(200);
      expect(await all(path, ['2001:DB8:0:4::1', '2001:db8::4:0:0:0:2', '2001:0db8:0000:0004::3'])).toEqual([
        ...[200, 200, 429],
      ]);
    });

    test('limits the forms of an address in a day, whatever is in them', async () => {
      const path = await linkOf('of a day');
      const forms = async (count: number) => {
        const statuses: number[] = [];
        for (let form = 0; form < count; form++) {
          if (form % 2 === 0) clock += 60_000;
          const headers = { 'x-forwarded-for': '192.0.2.10' };
          statuses.push((await client.post(path, form < 5 ? 'contact=none' : 'contact=391234', headers)).status);
        }
        return statuses;
      };
      expect(await forms(21)).toEqual([...Array(5).fill(400), ...Array(15).fill(200), 429]);
      clock += 86_400_000;
      expect(await forms(6)).toEqual([...Array(5).fill(400), 200]);
    });

    test('limits the contacts of a link in a day, from however many addresses; forms that are invalid do not count', async () => {
      const path = await linkOf('popular');
      const junk = Array.from({ length: 20 }, (_, number) =>
        client.post(path, 'contact=none', { 'x-forwarded-for': `203.0.113.${number}` }),
      );
      for (const { status } of await Promise.all(junk)) expect(status).toBe(400);
      const addresses = Array.from({ length: 204 }, (_, number) => `198.51.100.${number}`);
      expect(await all(path, addresses)).toEqual([...Array(200).fill(200), ...Array(4).fill(429)]);
      expect(Number((await post(path, '203.0.113.77')).headers.get('retry-after'))).toBeGreaterThan(86_000);
      expect((await post(await linkOf('quiet'), '203.0.113.78')).status).toBe(200);
      clock += 86_400_000;
      expect((await post(path, '203.0.113.79')).status).toBe(200);
    });

    test('limits nobody for longer than the period when the clock was a year ahead and is corrected', async () => {
      const path = await linkOf('ahead');
      clock += 365 * 86_400_000;
      expect(await all(path, Array(3).fill('192.0.2.30'))).toEqual([200, 200, 429]);
      clock -= 365 * 86_400_000;
      expect(await all(path, Array(3).fill('192.0.2.30'))).toEqual([200, 200, 429]);
      clock += 60_000;
      expect((await post(path, '192.0.2.30')).status).toBe(200);
    });

    test('keeps no address in the database, and shares the counts with each process that uses it', async () => {
      const path = await linkOf('shared');
      expect(await all(path, ['192.0.2.20', '192.0.2.20'])).toEqual([200, 200]);
      const { store, service: given, at } = service();
      const counts = await store.read((queries) => queries.selectFrom('form_counts').selectAll().execute());
      expect(JSON.stringify(counts)).not.toMatch(/192\.0|shared/);
      if (at.databaseUrl === undefined) return;
      const other = await startReference({ at, ...OPTIONS, programme: given.programme });
      const form = { 'x-forwarded-for': '192.0.2.20' };
      expect((await other.client.post(path, 'contact=391234', form)).status).toBe(429);
    });
  },
  OPTIONS,
);

test.each(STORES)('without a store, on $name, a visitor is asked in words to come back', async ({ place }) => {
  const { client, store } = await startReference({ at: await place() });
  await client.upsert('host');
  const path = await client.linkOf('host');
  await store.close();
  const headers = { 'accept-language': 'ar' };
  for (const page of [
    await client.call('GET', path, undefined, headers),
    await client.post(path, 'contact=a', headers),
  ]) {
    expect(page).toMatchObject({
      status: 500,
      text: expect.stringContaining(`<p role="alert">${builtIn.landing.ar.later}</p>`),
    });
  }
});

test('behind a proxy that is not trusted, visitors count as one address, and the log says what to set', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => void lines.push(line) });
  const { client } = await startReference({ landingPerMinute: 1, log });
  await client.upsert('host');
  const path = await client.linkOf('host');
  for (const [index, from] of ['192.0.2.1', '192.0.2.2'].entries()) {
    const { status } = await client.post(path, 'contact=a%40b.example', { 'x-forwarded-for': from });
    expect(status).toBe([200, 429][index]);
  }
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual([expect.stringContaining('set REFERENCE_TRUST_PROXY')]);
});
