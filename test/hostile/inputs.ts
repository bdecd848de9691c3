/* Values that no honest client sends; test/graphql/errors.test.ts has the mistakes that honest ones make. */
import { operation, PLAYER, type Row, rows, text } from './row.ts';

const byId = 'query ($id: ID!) { player(playerUniqueId: $id) { id } }';
const byIds = 'query ($ids: [ID!]!) { players(playerUniqueIds: $ids) { id } }';
const inLang = 'query ($lang: LanguageCode) { me(lang: $lang) { id } }';
const page = 'query ($page: Int!) { me { referredFriends(page: $page, limit: 200) { count } } }';
const after =
  'query ($after: String) { me { referredFriendsConnection(first: 1, after: $after) { nodes { status } } } }';
const upsert = 'mutation ($input: UpsertPlayerInput!) { upsertPlayer(input: $input) { userErrors { code field } } }';
const events = 'mutation ($input: TrackEventsInput!) { trackEvents(input: $input) { userErrors { code field } } }';
const remove = 'mutation ($input: DeletePlayerInput!) { deletePlayer(input: $input) { userErrors { code field } } }';
const attributes = (given: unknown) => operation(upsert, { input: { playerUniqueId: 'p1', attributes: given } });
const track = (...list: unknown[]) => operation(events, { input: { playerUniqueId: 'p1', events: list } });
/** An object literal would take `__proto__` for its prototype. */
const parsed = (text: string): unknown => JSON.parse(text);

const server = { as: 'server' } as const;
const userError = { ...server, status: 200, has: /"userErrors":\[\{"code":"/ };
const written = { ...server, status: 200, has: /"userErrors":\[\]/ };

const each = (name: string, values: unknown[], send: (value: unknown) => Row['send']) =>
  values.map((value): [string, Row['send']] => [`${name} ${JSON.stringify(value).slice(0, 40)}`, send(value)]);
const WRONG_ATTRIBUTES = [
  ...[{ isAdmin: true }, parsed('{"__proto__": {"email": "x"}}'), { city: { $gt: '' } }, { custom: ['a'] }],
  ...[{ lastOrderDate: '2025-02-30' }, { joinDate: '+275761-01-01T00:00:00Z' }, { joinDate: 0 }],
];
/** As text: `JSON.stringify` cannot write it. */
const DEEP = JSON.stringify({
  query: upsert,
  variables: { input: { playerUniqueId: 'p1', attributes: { custom: 'deep' } } },
}).replace('"deep"', `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`);
const NESTED = `${'['.repeat(9_000)}${']'.repeat(9_000)}`;
const LANGUAGES = ['en\r\nAPIKey: x', '../fr', 'e'.repeat(300), 'en,fr', '', '\u00e9n', 'en_US'];
const CURSORS = ['', 'cm93Ojk5OTk5OTk5OTk', 'A'.repeat(10_001), Buffer.from('[1.5,null]').toString('base64url')];

export const inputs: Row[] = [
  // test/rest/endpoints.test.ts has more of them.
  ...['..', 'p'.repeat(100_000)].flatMap((id) => [
    ...rows(
      { status: 200, code: 'BAD_USER_INPUT', ...server },
      [`the identifier ${id.slice(0, 40)}`, operation(byId, { id })],
      ['the same in a list', operation(byIds, { ids: ['p1', id] })],
    ),
    ...rows(userError, ['its deletion', operation(remove, { input: { playerUniqueId: id } })]),
  ]),
  // Identifiers that are allowed, and the path that they must have.
  ...[
    ['a%2fb', 'a%252fb'],
    [`a?b=2#c&d\\e`, 'a%3Fb%3D2%23c%26d%5Ce'],
    ['__proto__', '__proto__'],
    ['p1/.a/..b/...', 'p1%2F.a%2F..b%2F...'],
    ['ü'.repeat(512), '%C3%BC'.repeat(512)],
    [1, '1'],
  ].flatMap(([id, path]) =>
    rows({ status: 200, data: { player: null }, upstream: [`GET /integrations/player/${path}`], ...server }, [
      `the identifier ${id}`,
      operation(byId, { id }),
    ]),
  ),
  ...rows(
    { status: 400, code: 'BAD_USER_INPUT', ...server },
    ...each('the language', LANGUAGES, (lang) => operation(inLang, { lang })),
    ...each('the attributes', WRONG_ATTRIBUTES, attributes),
    ['metadata that are a list', track({ name: 'e', metadata: ['x'] })],
    ['another player in an event', track({ name: 'e', playerUniqueId: 'p2' })],
    ['an identifier in lists, 9,000 deep', text(`{"query":"${byIds}","variables":{"ids":${NESTED}}}`)],
    ['501 events', track(...Array(501).fill({ name: 'e' })), { has: /"events\\" has 501 items; at most 500/ }],
  ),
  ...rows(
    { status: 200, code: 'BAD_USER_INPUT', upstream: [PLAYER] },
    ['a page beyond 2^31 rows', operation(page, { page: 2_147_483_647 })],
    ...each('the cursor', CURSORS, (cursor) => operation(after, { after: cursor })),
  ),
  ...rows(
    userError,
    ['a text with a NUL', attributes({ city: 'a\0b' })],
    ['a tag of nothing', attributes({ tags: [' '] })],
    ['a custom attribute without a name', attributes({ custom: { '': 1 } })],
    ['a custom attribute whose name is half a surrogate pair', attributes({ custom: { '\ud800': 1 } })],
    ['custom attributes, 9,000 deep', text(DEEP)],
    ['an event of 257 characters', track({ name: 'e'.repeat(257) })],
    ['an event with a line break', track({ name: 'a\nb' })],
    ['metadata with a NUL', track({ name: 'e', metadata: { a: ['\0'] } })],
  ),
  // Names that are special in JavaScript are names like others.
  ...['__proto__', 'constructor'].flatMap((name) =>
    rows(
      written,
      [
        `the event ${name}`,
        track({ name, metadata: parsed(`{"${name}":"x"}`) }),
        { upstream: ['POST /integrations/event'] },
      ],
      [
        `the custom attribute ${name}`,
        attributes({ custom: parsed(`{"${name}":"x"}`) }),
        { upstream: ['POST /integrations/player'] },
      ],
    ),
  ),
];
