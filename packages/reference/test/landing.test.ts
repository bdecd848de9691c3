import { beforeAll, expect, test } from '@jest/globals';
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
  const post = (body: string) => client.call('POST', path, body, FORM);
  const contacts = () =>
    service().reference.store.read((queries) =>
      queries.selectFrom('contacts').select(['kind', 'value']).orderBy('id').execute(),
    );

  test('works without JavaScript and without a key, and does not name the owner of the link', async () => {
    const page = await fetch(`${service().reference.url}${path}`);
    const html = await page.text();
    expect(page.status).toBe(200);
    expect(html).not.toMatch(/<script|src=|https?:/i);
    expect(html).toContain('<html lang="en">');
    expect(html).toContain('<form method="post">');
    expect(html).toMatch(
      /<label for="contact">Your e-mail address<\/label>\n<input id="contact" name="contact" type="email"/,
    );
    expect(html).not.toContain('host');
  });

  const HEADERS = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy':
      "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'content-language': 'en',
  };
  test.each(Object.entries(HEADERS))('every response has the header %s', async (name, value) => {
    const replies = [
      await client.call('GET', path),
      await post('contact=header%40b.c'),
      await post('contact=none'),
      await client.call('GET', '/r/unknown'),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 400, 404]);
    expect(replies.map(({ headers }) => headers.get(name))).toEqual(Array(4).fill(value));
  });

  test('says the same to everybody, whether the contact is known or not', async () => {
    await client.upsert('guest', { email: 'guest@example.com' });
    const bodies = ['contact=a%40b.c', 'contact=a%40b.c', 'contact=guest%40example.com'];
    const [once, again, ofPlayer] = [
      await post(bodies[0] ?? ''),
      await post(bodies[1] ?? ''),
      await post(bodies[2] ?? ''),
    ];
    expect(once).toMatchObject({ status: 200, text: expect.stringContaining('<p role="status">Thank you!') });
    expect([again.text, ofPlayer.text]).toEqual([once.text, once.text]);
    expect(await contacts()).toEqual(
      expect.arrayContaining([
        { kind: 'email', value: 'a@b.c' },
        { kind: 'email', value: 'guest@example.com' },
      ]),
    );
  });

  test.each([
    ['', ''],
    ['contact=', ''],
    ['contact=no+address', 'no address'],
    ['contact=%22%3E%3Cscript%3E%26%27', '&#34;&#62;&#60;script&#62;&#38;&#39;'],
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
    const body = method === 'POST' ? 'contact=a%40b.c' : undefined;
    for (const code of ['unknown', '%00', 'x'.repeat(500), "'%20or%201=1"]) {
      const page = await client.call(method, `/r/${code}`, body, body === undefined ? {} : FORM);
      expect(page).toMatchObject({
        status: 404,
        text: expect.stringContaining('<h1>This invitation does not exist.</h1>'),
      });
    }
  });

  test('takes a form and nothing else, and no large one', async () => {
    const json = { 'content-type': 'application/json' };
    expect(await client.call('POST', path, '{"contact":"a@b.c"}', json)).toMatchObject({ status: 415 });
    expect(await post(`contact=${'x'.repeat(5000)}`)).toMatchObject({ status: 413, body: { code: 413 } });
  });
});

onEachStore(
  'the landing page of a programme by mobile with a shop',
  (service) => {
    test('asks for a mobile number, leads to the shop and hands on the code of the referral', async () => {
      const { client } = service();
      const { pathname } = new URL((await client.upsert('host')).body.referralLink);
      const page = await client.call('GET', pathname);
      expect(page.text).toContain('<label for="contact">Your mobile number</label>');
      expect(page.text).toContain('type="tel"');
      expect(page.text).not.toContain('shop.example');
      expect((await client.call('POST', pathname, 'contact=1234', FORM)).text).toContain(
        'Please enter a mobile number',
      );
      const { text } = await client.call('POST', pathname, 'contact=%2B39+06+1234', FORM);
      expect(text).toContain(
        `<p><a href="https://shop.example/start?a=1&#38;b=%22&#38;referralCode=${pathname.slice(3)}#top">Continue to the shop</a></p>`,
      );
    });
  },
  { programme: programmeWith({ contact: 'mobile', shopUrl: 'https://shop.example/start?a=1&b="#top' }) },
);

onEachStore(
  'forms of the landing page',
  (service) => {
    const linkOf = async (id: string) => new URL((await service().client.upsert(id)).body.referralLink).pathname;
    const post = (path: string, number: number, from: string) =>
      service().client.call('POST', path, `contact=c${number}%40example.com`, { ...FORM, 'x-forwarded-for': from });
    const statuses = async (replies: Promise<{ status: number }>[]) =>
      (await Promise.all(replies)).map(({ status }) => status).sort();

    test('are limited for each address', async () => {
      const paths = await Promise.all(['a', 'b'].map(linkOf));
      const replies = paths.flatMap((path) => [post(path, 1, '192.0.2.1'), post(path, 2, '192.0.2.1')]);
      expect(await statuses(replies)).toEqual([200, 200, 429, 429]);
      expect((await post(paths[0] ?? '', 3, '192.0.2.2')).status).toBe(200);
      const refused = await post(paths[0] ?? '', 3, '192.0.2.1');
      expect(refused.text).toContain('<p role="alert">Too many attempts. Please try again in a minute.</p>');
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(50);
      // Reading the page is not limited.
      for (const path of paths) expect((await service().client.call('GET', path)).status).toBe(200);
    });

    test('are limited for each link, from however many addresses', async () => {
      const path = await linkOf('popular');
      const replies = Array.from({ length: 16 }, (_, number) => post(path, number, `198.51.100.${number}`));
      expect(await statuses(replies)).toEqual([...Array(12).fill(200), ...Array(4).fill(429)]);
      expect((await post(await linkOf('other'), 1, '198.51.100.1')).status).toBe(200);
    });

    test('from one IPv6 network are from one address', async () => {
      const path = await linkOf('e');
      const replies = Array.from({ length: 4 }, (_, number) => post(path, number, `2001:db8:1:2::${number + 1}`));
      expect(await statuses(replies)).toEqual([200, 200, 429, 429]);
    });
  },
  { landingPerMinute: 2, trustProxy: ['127.0.0.1'] },
);
