import { GOOD, operation, PLAYER, type Row, rows } from './row.ts';

const byId = 'query ($id: ID!) { player(playerUniqueId: $id) { id } }';
const byIds = 'query ($ids: [ID!]!) { players(playerUniqueIds: $ids) { id } }';
const inLang = 'query ($lang: LanguageCode) { me(lang: $lang) { id } }';
const page = 'query ($page: Int!, $limit: Int!) { me { referredFriends(page: $page, limit: $limit) { count } } }';
const after =
  'query ($after: String) { me { referredFriendsConnection(first: 1, after: $after) { nodes { status } } } }';
const upsert = 'mutation ($input: UpsertPlayerInput!) { upsertPlayer(input: $input) { userErrors { code field } } }';
const events = 'mutation ($input: TrackEventsInput!) { trackEvents(input: $input) { userErrors { code field } } }';
const remove = 'mutation ($input: DeletePlayerInput!) { deletePlayer(input: $input) { userErrors { code field } } }';
const upsertLiteral = (custom: string) =>
  `mutation { upsertPlayer(input: { playerUniqueId: "p1", attributes: { custom: { n: ${custom} } } }) { userErrors { code field } } }`;

const asServer = { as: 'server' } as const;
const refusedArgument = { status: 200, code: 'BAD_USER_INPUT', ...asServer };
const refusedVariable = { status: 400, code: 'BAD_USER_INPUT', ...asServer };
const notExact = { status: 400, code: 'BAD_REQUEST', ...asServer };
const userError = { ...asServer, status: 200, has: /"userErrors":\[\{"code":"/ };
const atId = { ...asServer, status: 200, has: /"field":\["input","playerUniqueId"\]/ };

/** A body whose variables are written as they are. */
const raw = (query: string, variables: string) => ({
  ...operation(query),
  body: `{"query":${JSON.stringify(query)},"variables":${variables}}`,
});

const badIds: [name: string, id: string][] = [
  ['a dot', '.'],
  ['two dots', '..'],
  ['nothing', ''],
  ['white space', '   '],
  ['a NUL', 'p1\0'],
  ['a line break', 'p1\r\nAPIKey: stolen'],
  ['a tab', 'p\t1'],
  ['DEL', 'p\x7f1'],
  ['a C1 control character', 'p\x851'],
  ['the first half of a surrogate pair', 'p\ud800'],
  ['the second half of a surrogate pair', '\udc00p'],
  ['a right-to-left override', 'p\u202e1'],
  ['1,025 bytes', 'p'.repeat(1_025)],
  ['steps up', '../event'],
  ['steps up after a backslash', 'a\\..\\event'],
  ['escaped dots', '%2e%2e'],
  ['dots escaped twice', '..%252Fevent'],
  ['100,000 characters', 'p'.repeat(100_000)],
];

/** Identifiers that are allowed, and the path that they must have. */
const goodIds: [id: unknown, path: string][] = [
  ['a/b', 'a%2Fb'],
  ['a%2fb', 'a%252fb'],
  ['a?page=2', 'a%3Fpage%3D2'],
  ['a#b', 'a%23b'],
  ['a\\b', 'a%5Cb'],
  ['a;b=c', 'a%3Bb%3Dc'],
  ['user@example.com', 'user%40example.com'],
  [`'"`, `'%22`],
  ['p\u200b1', 'p%E2%80%8B1'],
  ['\u{1f600}', '%F0%9F%98%80'],
  ['e\u0301', 'e%CC%81'],
  ['__proto__', '__proto__'],
  ['{{7*7}}', '%7B%7B7*7%7D%7D'],
  [`' OR 1=1 --`, `'%20OR%201%3D1%20--`],
  ['100%', '100%25'],
  ['p1/.a/..b/...', 'p1%2F.a%2F..b%2F...'],
  ['日本', '%E6%97%A5%E6%9C%AC'],
  ['p'.repeat(1_024), 'p'.repeat(1_024)],
  ['ü'.repeat(512), '%C3%BC'.repeat(512)],
  [1, '1'],
];

const identifiers: Row[] = [
  ...badIds.flatMap(([name, id]): Row[] => [
    { name: `an identifier of ${name}`, send: operation(byId, { id }), ...refusedArgument },
    { name: `a list with an identifier of ${name}`, send: operation(byIds, { ids: ['p1', id] }), ...refusedArgument },
    { name: `a write to ${name}`, send: operation(upsert, { input: { playerUniqueId: id } }), ...atId },
    { name: `a deletion of ${name}`, send: operation(remove, { input: { playerUniqueId: id } }), ...atId },
  ]),
  ...[
    ...goodIds.map(([id, path]) => [String(id), operation(byId, { id }), path] as const),
    [
      'in the document, beyond 2^53',
      operation('{ player(playerUniqueId: 9007199254740993) { id } }'),
      '9007199254740993',
    ] as const,
  ].map(
    ([name, send, path]): Row => ({
      ...{ name: `the identifier ${name}`, send, ...asServer },
      ...{ status: 200, data: { player: null }, upstream: [`GET /integrations/player/${path}`] },
    }),
  ),
  ...rows(notExact, ['an identifier that is a number beyond 2^53', raw(byId, '{"id":9007199254740993}')]),
  ...rows(refusedArgument, [
    'fifty-one identifiers',
    operation(byIds, { ids: Array.from({ length: 51 }, (_, n) => `p${n}`) }),
  ]),
];

/** Values that a variable does not take, for each kind of variable. */
const variables: Row[] = (
  [
    ['the identifier', [1.5, true, null, ['p1', 'p2'], { id: 'p1' }], (id) => operation(byId, { id })],
    [
      'the language',
      [
        'en\r\nAPIKey: x',
        '../fr',
        'e'.repeat(300),
        'en;q=1',
        'en,fr',
        '',
        ' en',
        'en\0',
        '\u00e9n',
        '*',
        'en_US',
        ['en'],
      ],
      (lang) => operation(inLang, { lang }),
    ],
    [
      'a limit of',
      [1.5, '5', true, null, 2_147_483_648, -2_147_483_649, [5], {}],
      (limit) => operation(page, { page: 1, limit }),
    ],
    [
      'the attributes',
      [
        { isAdmin: true },
        JSON.parse('{"__proto__": {"email": "x"}}'),
        { constructor: { prototype: { admin: true } } },
        { city: 1 },
        { city: { $gt: '' } },
        { totalOrders: '1' },
        { totalOrders: 2_147_483_648 },
        { lastOrderDate: '' },
        { lastOrderDate: '2025-02-30' },
        { joinDate: '+275761-01-01T00:00:00Z' },
        { joinDate: 0 },
        { tags: { length: 1e6 } },
        { custom: [] },
        { custom: '{}' },
      ],
      (given) => attributes(given),
    ],
    ['metadata of', ['x', ['x']], (metadata) => track({ name: 'e', metadata })],
    ['the player', [{ playerUniqueId: 'p1', apiKey: 'x', secretKey: 'y' }], (input) => operation(upsert, { input })],
    ['the event', [{ name: 'e', playerUniqueId: 'p2' }], (event) => track(event)],
  ] satisfies [string, unknown[], (value: unknown) => Row['send']][]
).flatMap(([name, values, send]) =>
  values.map((value) => ({
    name: `${name} ${JSON.stringify(value)?.slice(0, 60)}`,
    send: send(value),
    ...refusedVariable,
  })),
);

const pages: Row[] = [
  ...(
    [
      [1, 0],
      [1, -1],
      [1, 201],
      [1, 2_147_483_647],
      [0, 10],
      [-1, 10],
      [2_147_483_647, 200],
    ] as const
  ).map(([number, limit]) => ({ name: `page ${number} of ${limit}`, send: operation(page, { page: number, limit }) })),
  ...['', 'x', 'cm93Oi0x', 'cm93Ojk5OTk5OTk5OTk', 'A'.repeat(1_000), '../..'].map((cursor) => ({
    name: `the cursor ${JSON.stringify(cursor.slice(0, 30))}`,
    send: operation(after, { after: cursor }),
  })),
].map((row) => ({ ...row, status: 200, code: 'BAD_USER_INPUT', upstream: [PLAYER] }));

function attributes(given: unknown) {
  return operation(upsert, { input: { playerUniqueId: 'p1', attributes: given } });
}
function track(...list: unknown[]) {
  return operation(events, { input: { playerUniqueId: 'p1', events: list } });
}

const writes: Row[] = [
  ...rows(
    userError,
    ['a text with a NUL', attributes({ city: 'a\0b' })],
    ['a text with half a surrogate pair', attributes({ city: '\udfff' })],
    ['a tag with a comma', attributes({ tags: ['a,b'] })],
    ['a tag of nothing', attributes({ tags: [' '] })],
    ['a custom attribute that is an object', attributes({ custom: { a: { b: 'c' } } })],
    ['a custom attribute that is a list', attributes({ custom: { a: ['b'] } })],
    ['a custom attribute that is true', attributes({ custom: { a: true } })],
    ['a custom attribute without a name', attributes({ custom: { '': 1 } })],
    ['a custom attribute whose name is half a surrogate pair', attributes({ custom: { '\ud800': 1 } })],
    ['a custom attribute with a NUL', attributes({ custom: { a: '\0' } })],
    [
      'custom attributes, 9,000 deep',
      raw(
        upsert,
        `{"input":{"playerUniqueId":"p1","attributes":{"custom":${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}}}}`,
      ),
    ],
    ['a custom literal beyond 2^53', upsertLiteral('9007199254740993')],
    ['a custom literal without end', upsertLiteral('1e400')],
    [
      'a device without a type',
      operation(upsert, { input: { playerUniqueId: 'p1', device: { token: 't', osType: '' } } }),
    ],
    ['no events', track()],
    ['an event twice', track({ name: 'a' }, { name: 'a' })],
    ['an event without a name', track({ name: '' })],
    ['an event of 257 characters', track({ name: 'e'.repeat(257) })],
    ['an event with a line break', track({ name: 'a\nb' })],
    ['an event with half a surrogate pair', track({ name: '\ud83d' })],
    ...[{ a: {} }, { a: true }, { a: null }, { a: [['b']] }, { a: [null] }, { a: ['\0'] }].map(
      (metadata) => [`metadata ${JSON.stringify(metadata)}`, track({ name: 'e', metadata })] as [string, Row['send']],
    ),
  ),
  ...rows(
    notExact,
    [
      'a custom number beyond 2^53',
      raw(upsert, '{"input":{"playerUniqueId":"p1","attributes":{"custom":{"n":9007199254740993}}}}'),
    ],
    ['a total that is without end', raw(upsert, '{"input":{"playerUniqueId":"p1","attributes":{"totalSpent":1e400}}}')],
    ['a limit of 1e400', raw(page, '{"page":1,"limit":1e400}')],
  ),
  ...rows(
    { status: 400 },
    [
      'a language in the document with a line break',
      '{ me(lang: "en\\r\\nX: y") { id } }',
      { code: 'GRAPHQL_VALIDATION_FAILED' },
    ],
    [
      '501 events',
      track(...Array(501).fill({ name: 'e' })),
      { code: 'BAD_USER_INPUT', has: /"events\\" has 501 members; at most 500/ },
    ],
  ),
];

/** Names that are special in JavaScript are names like others: they arrive, and nothing else changes. */
const special: Row[] = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'].flatMap((name): Row[] => [
  ...rows(
    { ...asServer, status: 200, has: /"userErrors":\[\]/ },
    [
      `the event ${name}`,
      raw(events, `{"input":{"playerUniqueId":"p1","events":[{"name":"${name}","metadata":{"${name}":"x"}}]}}`),
      { upstream: ['POST /integrations/event'] },
    ],
    [
      `the custom attribute ${name}`,
      raw(upsert, `{"input":{"playerUniqueId":"p1","attributes":{"custom":{"${name}":"x"}}}}`),
      { upstream: ['POST /integrations/player'] },
    ],
  ),
]);

const others: Row[] = [
  ...rows(
    { as: 'player', status: 200, code: 'FORBIDDEN', data: { player: null } },
    ['another player by argument', operation(byId, { id: 'p2' })],
    ['another player among others', operation(byIds, { ids: ['p1', 'p2'] }), { data: { players: null } }],
    [
      "events in another player's name",
      operation(events, { input: { playerUniqueId: 'p2', events: [{ name: 'place_order' }] } }),
      { data: { trackEvents: null } },
    ],
    ['another player by a default', 'query ($id: ID! = "p2") { player(playerUniqueId: $id) { id } }'],
    [
      'another player by the name of an operation',
      operation('query A { me { id } } query B { player(playerUniqueId: "p2") { id } }', {}, { operationName: 'B' }),
    ],
  ),
  ...rows({ status: 200, data: { me: { id: 'p1' } }, upstream: [PLAYER] }, ['oneself', GOOD]),
];

export const inputs: Row[] = [...identifiers, ...variables, ...pages, ...writes, ...special, ...others];
