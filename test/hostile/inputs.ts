/* Values that no honest client sends; test/graphql/errors.test.ts has the mistakes that honest ones make. */
import { bad, operation, PLAYER, type Row, rows } from './row.ts';

const byId = 'query ($id: ID!) { player(playerUniqueId: $id) { id } }';
const byIds = 'query ($ids: [ID!]!) { players(playerUniqueIds: $ids) { id } }';
const inLang = 'query ($lang: LanguageCode) { me(lang: $lang) { id } }';
const page = 'query ($page: Int!, $limit: Int!) { me { referredFriends(page: $page, limit: $limit) { count } } }';
const after =
  'query ($after: String) { me { referredFriendsConnection(first: 1, after: $after) { nodes { status } } } }';
const upsert = 'mutation ($input: UpsertPlayerInput!) { upsertPlayer(input: $input) { userErrors { code field } } }';
const events = 'mutation ($input: TrackEventsInput!) { trackEvents(input: $input) { userErrors { code field } } }';
const remove = 'mutation ($input: DeletePlayerInput!) { deletePlayer(input: $input) { userErrors { code field } } }';
const attributes = (given: unknown) => operation(upsert, { input: { playerUniqueId: 'p1', attributes: given } });
const track = (...list: unknown[]) => operation(events, { input: { playerUniqueId: 'p1', events: list } });
/** A body whose variables are written as they are. */
const raw = (query: string, variables: string) => ({
  ...operation(query),
  body: `{"query":${JSON.stringify(query)},"variables":${variables}}`,
});
const rawCustom = (custom: string) =>
  raw(upsert, `{"input":{"playerUniqueId":"p1","attributes":{"custom":${custom}}}}`);

const server = { as: 'server' } as const;
const badArgument = { status: 200, code: 'BAD_USER_INPUT', ...server };
const userError = { ...server, status: 200, has: /"userErrors":\[\{"code":"/ };

const identifiers: Row[] = [
  ...['..', 'p1\r\nAPIKey: stolen', 'p\ud800', 'p\u202e1', 'a\\..\\event', '..%252Fevent', 'p'.repeat(100_000)].flatMap(
    (id): Row[] => [
      { name: `the identifier ${JSON.stringify(id).slice(0, 40)}`, send: operation(byId, { id }), ...badArgument },
      { name: 'the same in a list', send: operation(byIds, { ids: ['p1', id] }), ...badArgument },
      { name: 'its deletion', send: operation(remove, { input: { playerUniqueId: id } }), ...userError },
    ],
  ),
  // Identifiers that are allowed, and the path that they must have.
  ...[
    ['a/b', 'a%2Fb'],
    ['a%2fb', 'a%252fb'],
    [`a?b=2#c;d\\e`, 'a%3Fb%3D2%23c%3Bd%5Ce'],
    ['__proto__', '__proto__'],
    [`' OR 1=1 --`, `'%20OR%201%3D1%20--`],
    ['p1/.a/..b/...', 'p1%2F.a%2F..b%2F...'],
    ['ü'.repeat(512), '%C3%BC'.repeat(512)],
    [1, '1'],
  ].map(([id, path]): Row => {
    const found = { status: 200, data: { player: null }, upstream: [`GET /integrations/player/${path}`] };
    return { name: `the identifier ${id}`, send: operation(byId, { id }), ...server, ...found };
  }),
  ...rows(
    { ...bad, ...server },
    ['an identifier that is a number beyond 2^53', raw(byId, '{"id":9007199254740993}')],
    ['a custom number beyond 2^53', rawCustom('{"n":9007199254740993}')],
    ['a limit of 1e400', raw(page, '{"page":1,"limit":1e400}')],
  ),
];

const each = (name: string, values: unknown[], send: (value: unknown) => Row['send']) =>
  values.map((value): [string, Row['send']] => [`${name} ${JSON.stringify(value).slice(0, 40)}`, send(value)]);
const WRONG_TYPES = [
  { isAdmin: true },
  JSON.parse('{"__proto__": {"email": "x"}}'),
  { city: { $gt: '' } },
  { custom: [] },
];
const WRONG_DATES = [{ lastOrderDate: '2025-02-30' }, { joinDate: '+275761-01-01T00:00:00Z' }, { joinDate: 0 }];
const LANGUAGES = ['en\r\nAPIKey: x', '../fr', 'e'.repeat(300), 'en,fr', '', '\u00e9n', 'en_US'];
const CURSORS = ['', 'x', 'cm93Ojk5OTk5OTk5OTk', 'A'.repeat(10_001), Buffer.from('[1.5,null]').toString('base64url')];

/** Values that a variable does not take. */
const variables: Row[] = rows(
  { status: 400, code: 'BAD_USER_INPUT', ...server },
  ...each('the language', LANGUAGES, (lang) => operation(inLang, { lang })),
  ...each('the attributes', [...WRONG_TYPES, ...WRONG_DATES], attributes),
  ['metadata that are a list', track({ name: 'e', metadata: ['x'] })],
  ['keys of the REST service', operation(upsert, { input: { playerUniqueId: 'p1', apiKey: 'x' } })],
  ['another player in an event', track({ name: 'e', playerUniqueId: 'p2' })],
  ['501 events', track(...Array(501).fill({ name: 'e' })), { has: /"events\\" has 501 members; at most 500/ }],
);

const pages: Row[] = rows(
  { status: 200, code: 'BAD_USER_INPUT', upstream: [PLAYER] },
  ['a page beyond 2^31 rows', operation(page, { page: 2_147_483_647, limit: 200 })],
  ...each('the cursor', CURSORS, (cursor) => operation(after, { after: cursor })),
);

const writes: Row[] = [
  ...rows(
    userError,
    ['a text with a NUL', attributes({ city: 'a\0b' })],
    ['a tag of nothing', attributes({ tags: [' '] })],
    ['a custom attribute without a name', attributes({ custom: { '': 1 } })],
    ['a custom attribute whose name is half a surrogate pair', attributes({ custom: { '\ud800': 1 } })],
    ['a custom attribute with a NUL', attributes({ custom: { a: '\0' } })],
    ['custom attributes, 9,000 deep', rawCustom(`${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`)],
    ['an event of 257 characters', track({ name: 'e'.repeat(257) })],
    ['an event with a line break', track({ name: 'a\nb' })],
    ['an event with half a surrogate pair', track({ name: '\ud83d' })],
    ['metadata with a NUL', track({ name: 'e', metadata: { a: ['\0'] } })],
  ),
  // Names that are special in JavaScript are names like others.
  ...['__proto__', 'constructor'].flatMap((name): Row[] =>
    rows(
      { ...server, status: 200, has: /"userErrors":\[\]/ },
      [
        `the event ${name}`,
        raw(events, `{"input":{"playerUniqueId":"p1","events":[{"name":"${name}","metadata":{"${name}":"x"}}]}}`),
        { upstream: ['POST /integrations/event'] },
      ],
      [`the custom attribute ${name}`, rawCustom(`{"${name}":"x"}`), { upstream: ['POST /integrations/player'] }],
    ),
  ),
];

export const inputs: Row[] = [...identifiers, ...variables, ...pages, ...writes];
