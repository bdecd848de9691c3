import { GOOD, operation, PLAYER, type Row } from './row.ts';

const byId = 'query ($id: ID!) { player(playerUniqueId: $id) { id } }';
const byIds = 'query ($ids: [ID!]!) { players(playerUniqueIds: $ids) { id } }';
const inLang = 'query ($lang: LanguageCode) { me(lang: $lang) { id } }';
const page = 'query ($page: Int!, $limit: Int!) { me { referredFriends(page: $page, limit: $limit) { count } } }';
const after =
  'query ($after: String) { me { referredFriendsConnection(first: 1, after: $after) { nodes { status } } } }';
const upsert = 'mutation ($input: UpsertPlayerInput!) { upsertPlayer(input: $input) { userErrors { code field } } }';
const events = 'mutation ($input: TrackEventsInput!) { trackEvents(input: $input) { userErrors { code field } } }';
const remove = 'mutation ($input: DeletePlayerInput!) { deletePlayer(input: $input) { userErrors { code field } } }';

const asServer = { as: 'server' } as const;
const refusedArgument = { status: 200, code: 'BAD_USER_INPUT', ...asServer };
const refusedVariable = { status: 400, code: 'BAD_USER_INPUT', ...asServer };

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

const identifiers: Row[] = [
  ...badIds.flatMap(([name, id]): Row[] => [
    { name: `an identifier of ${name}`, send: operation(byId, { id }), ...refusedArgument },
    { name: `a list with an identifier of ${name}`, send: operation(byIds, { ids: ['p1', id] }), ...refusedArgument },
    {
      name: `a write to an identifier of ${name}`,
      send: operation(upsert, { input: { playerUniqueId: id } }),
      ...asServer,
      status: 200,
      has: /"field":\["input","playerUniqueId"\]/,
    },
    {
      name: `the deletion of an identifier of ${name}`,
      send: operation(remove, { input: { playerUniqueId: id } }),
      ...asServer,
      status: 200,
      has: /"field":\["input","playerUniqueId"\]/,
    },
  ]),
  ...(
    [
      ['a slash', 'a/b', 'a%2Fb'],
      ['an escaped slash', 'a%2fb', 'a%252fb'],
      ['a question mark', 'a?page=2', 'a%3Fpage%3D2'],
      ['a hash', 'a#b', 'a%23b'],
      ['a backslash', 'a\\b', 'a%5Cb'],
      ['a semicolon', 'a;b=c', 'a%3Bb%3Dc'],
      ['an at sign', 'user@example.com', 'user%40example.com'],
      ['quotes', `'"`, `'%22`],
      ['a zero-width space', 'p\u200b1', 'p%E2%80%8B1'],
      ['an emoji', '\u{1f600}', '%F0%9F%98%80'],
      ['a letter of two characters', 'e\u0301', 'e%CC%81'],
      ['JavaScript', '__proto__', '__proto__'],
      ['a template', '{{7*7}}', '%7B%7B7*7%7D%7D'],
      ['SQL', `' OR 1=1 --`, `'%20OR%201%3D1%20--`],
      ['256 characters', 'p'.repeat(256), 'p'.repeat(256)],
    ] as [string, string, string][]
  ).map(
    ([name, id, path]): Row => ({
      name: `an identifier with ${name} stays one`,
      send: operation(byId, { id }),
      ...asServer,
      status: 200,
      data: { player: null },
      upstream: [`GET /integrations/player/${path}`],
    }),
  ),
  {
    name: 'an identifier that is a number',
    send: operation(byId, { id: 1 }),
    ...asServer,
    status: 200,
    data: { player: null },
    upstream: ['GET /integrations/player/1'],
  },
  {
    name: 'an identifier that is a number beyond 2^53',
    send: { ...operation(byId, { id: 0 }), body: `{"query":"${byId}","variables":{"id":9007199254740993}}` },
    ...asServer,
    status: 400,
    code: 'BAD_REQUEST',
  },
  {
    name: 'an identifier that is a literal beyond 2^53',
    send: operation('{ player(playerUniqueId: 9007199254740993) { id } }'),
    ...asServer,
    status: 200,
    data: { player: null },
    upstream: ['GET /integrations/player/9007199254740993'],
  },
  {
    name: 'fifty-one identifiers',
    send: operation(byIds, { ids: Array.from({ length: 51 }, (_, n) => `p${n}`) }),
    ...refusedArgument,
  },
  ...[1.5, true, null, ['p1', 'p2'], { id: 'p1' }].map(
    (id): Row => ({
      name: `an identifier that is ${JSON.stringify(id)}`,
      send: operation(byId, { id }),
      ...refusedVariable,
    }),
  ),
];

const texts: Row[] = [
  ...['en\r\nAPIKey: x', '../fr', 'e'.repeat(300), 'en;q=1', 'en,fr', '', ' en', 'en\0', '\u00e9n', '*', 'en_US'].map(
    (lang): Row => ({
      name: `the language ${JSON.stringify(lang.slice(0, 30))}`,
      send: operation(inLang, { lang }),
      ...refusedVariable,
    }),
  ),
  { name: 'a language that is a list', send: operation(inLang, { lang: ['en'] }), ...refusedVariable },
  {
    name: 'a language in the document with a line break',
    send: operation('{ me(lang: "en\\r\\nX: y") { id } }'),
    as: 'server',
    status: 400,
    code: 'GRAPHQL_VALIDATION_FAILED',
  },
  ...[
    '',
    'x',
    'cm93Oi0x',
    Buffer.from('row:-1').toString('base64url'),
    Buffer.from('row:9999999999').toString('base64url'),
    'A'.repeat(1_000),
    '../..',
  ].map(
    (cursor): Row => ({
      name: `the cursor ${JSON.stringify(cursor.slice(0, 30))}`,
      send: operation(after, { after: cursor }),
      as: 'phone',
      status: 200,
      code: 'BAD_USER_INPUT',
      upstream: [PLAYER],
    }),
  ),
];

const numbers: Row[] = [
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
  ).map(
    ([number, limit]): Row => ({
      name: `page ${number} of ${limit}`,
      send: operation(page, { page: number, limit }),
      status: 200,
      code: 'BAD_USER_INPUT',
      upstream: [PLAYER],
    }),
  ),
  ...[1.5, '5', true, null, 2_147_483_648, -2_147_483_649, [5], {}].map(
    (limit): Row => ({
      name: `a limit of ${JSON.stringify(limit)}`,
      send: operation(page, { page: 1, limit }),
      ...refusedVariable,
      as: 'phone',
    }),
  ),
  {
    name: 'a limit of 1e400',
    send: { ...operation(page), body: `{"query":"${page}","variables":{"page":1,"limit":1e400}}` },
    status: 400,
    code: 'BAD_REQUEST',
  },
];

const attribute = (attributes: unknown) => operation(upsert, { input: { playerUniqueId: 'p1', attributes } });
const refusedMember = { ...asServer, status: 200, has: /"userErrors":\[\{"code":"/ };
const raw = (query: string, variables: string) => ({
  ...operation(query),
  body: `{"query":${JSON.stringify(query)},"variables":${variables}}`,
});

const attributes: Row[] = [
  { name: 'a text with a NUL', send: attribute({ city: 'a\0b' }), ...refusedMember },
  { name: 'a text with half a surrogate pair', send: attribute({ city: '\udfff' }), ...refusedMember },
  { name: 'a tag with a comma', send: attribute({ tags: ['a,b'] }), ...refusedMember },
  { name: 'a tag of nothing', send: attribute({ tags: [' '] }), ...refusedMember },
  {
    name: 'a device without a type',
    send: operation(upsert, { input: { playerUniqueId: 'p1', device: { token: 't', osType: '' } } }),
    ...refusedMember,
  },
  ...(
    [
      ['an unknown attribute', { isAdmin: true }],
      ['__proto__ as an attribute', JSON.parse('{"__proto__": {"email": "x"}}')],
      ['constructor as an attribute', { constructor: { prototype: { admin: true } } }],
      ['a text that is a number', { city: 1 }],
      ['a text that is an object', { city: { $gt: '' } }],
      ['a number that is text', { totalOrders: '1' }],
      ['an integer that is too large', { totalOrders: 2_147_483_648 }],
      ['a date of nothing', { lastOrderDate: '' }],
      ['a date that does not exist', { lastOrderDate: '2025-02-30' }],
      ['a moment far beyond time', { joinDate: '+275761-01-01T00:00:00Z' }],
      ['a moment that is a number', { joinDate: 0 }],
      ['tags that are an object', { tags: { length: 1e6 } }],
      ['custom attributes that are a list', { custom: [] }],
      ['custom attributes that are text', { custom: '{}' }],
    ] as [string, object][]
  ).map(([name, given]): Row => ({ name, send: attribute(given), ...refusedVariable })),
  ...(
    [
      ['a custom attribute that is an object', { custom: { a: { b: 'c' } } }],
      ['a custom attribute that is a list', { custom: { a: ['b'] } }],
      ['a custom attribute that is true', { custom: { a: true } }],
      ['a custom attribute without a name', { custom: { '': 1 } }],
      ['a custom attribute whose name is half a surrogate pair', { custom: { '\ud800': 1 } }],
      ['a custom attribute with a NUL', { custom: { a: '\0' } }],
    ] as [string, object][]
  ).map(([name, given]): Row => ({ name, send: attribute(given), ...refusedMember })),
  {
    name: 'custom attributes, 9,000 deep',
    send: raw(
      upsert,
      `{"input":{"playerUniqueId":"p1","attributes":{"custom":${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}}}}`,
    ),
    ...refusedMember,
  },
  {
    name: 'a custom number beyond 2^53',
    send: raw(upsert, '{"input":{"playerUniqueId":"p1","attributes":{"custom":{"n":9007199254740993}}}}'),
    ...asServer,
    status: 400,
    code: 'BAD_REQUEST',
  },
  {
    name: 'a custom literal beyond 2^53',
    send: operation(
      'mutation { upsertPlayer(input: { playerUniqueId: "p1", attributes: { custom: { n: 9007199254740993 } } }) { userErrors { code field } } }',
    ),
    ...refusedMember,
  },
  {
    name: 'a custom literal without end',
    send: operation(
      'mutation { upsertPlayer(input: { playerUniqueId: "p1", attributes: { custom: { n: 1e400 } } }) { userErrors { code field } } }',
    ),
    ...refusedMember,
  },
  {
    name: 'a total that is without end',
    send: raw(upsert, '{"input":{"playerUniqueId":"p1","attributes":{"totalSpent":1e400}}}'),
    ...asServer,
    status: 400,
    code: 'BAD_REQUEST',
  },
  {
    name: 'a custom literal that is an enum',
    send: operation(
      'mutation { upsertPlayer(input: { playerUniqueId: "p1", attributes: { custom: { n: ADMIN } } }) { serviceId } }',
    ),
    ...asServer,
    status: 400,
  },
  {
    name: "the REST service's keys as input",
    send: operation('mutation ($input: UpsertPlayerInput!) { upsertPlayer(input: $input) { serviceId } }', {
      input: { playerUniqueId: 'p1', apiKey: 'x', secretKey: 'y' },
    }),
    ...refusedVariable,
  },
];

const event = (...list: unknown[]) => operation(events, { input: { playerUniqueId: 'p1', events: list } });
const eventRows: Row[] = [
  {
    name: '501 events',
    send: event(...Array(501).fill({ name: 'e' })),
    status: 400,
    code: 'BAD_USER_INPUT',
    has: /"events\\" has 501 members; at most 500/,
  },
  { name: 'no events', send: event(), ...refusedMember },
  { name: 'an event twice', send: event({ name: 'a' }, { name: 'a' }), ...refusedMember },
  { name: 'an event without a name', send: event({ name: '' }), ...refusedMember },
  { name: 'an event of 257 characters', send: event({ name: 'e'.repeat(257) }), ...refusedMember },
  { name: 'an event with a line break', send: event({ name: 'a\nb' }), ...refusedMember },
  { name: 'an event with half a surrogate pair', send: event({ name: '\ud83d' }), ...refusedMember },
  ...(
    [
      ['metadata that are text', 'x'],
      ['metadata that are a list', ['x']],
    ] as [string, unknown][]
  ).map(([name, metadata]): Row => ({ name, send: event({ name: 'e', metadata }), ...refusedVariable })),
  ...(
    [
      ['metadata with an object', { a: {} }],
      ['metadata with true', { a: true }],
      ['metadata with null', { a: null }],
      ['metadata with lists in lists', { a: [['b']] }],
      ['metadata with null in a list', { a: [null] }],
      ['metadata with a NUL', { a: ['\0'] }],
    ] as [string, unknown][]
  ).map(([name, metadata]): Row => ({ name, send: event({ name: 'e', metadata }), ...refusedMember })),
  { name: 'an event with an unknown member', send: event({ name: 'e', playerUniqueId: 'p2' }), ...refusedVariable },
];

/** Names that are special in JavaScript are names like others: they arrive, and nothing else changes. */
const special: Row[] = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'].flatMap((name): Row[] => [
  {
    name: `the event ${name}`,
    send: raw(events, `{"input":{"playerUniqueId":"p1","events":[{"name":"${name}","metadata":{"${name}":"x"}}]}}`),
    ...asServer,
    status: 200,
    data: { trackEvents: { userErrors: [] } },
    upstream: ['POST /integrations/event'],
  },
  {
    name: `the custom attribute ${name}`,
    send: raw(upsert, `{"input":{"playerUniqueId":"p1","attributes":{"custom":{"${name}":"x"}}}}`),
    ...asServer,
    status: 200,
    data: { upsertPlayer: { userErrors: [] } },
    upstream: ['POST /integrations/player'],
  },
]);

const whoever: Row[] = [
  {
    name: 'another player by argument',
    as: 'player',
    send: operation(byId, { id: 'p2' }),
    status: 200,
    code: 'FORBIDDEN',
    data: { player: null },
  },
  {
    name: 'another player among others',
    as: 'player',
    send: operation(byIds, { ids: ['p1', 'p2'] }),
    status: 200,
    code: 'FORBIDDEN',
    data: { players: null },
  },
  {
    name: "events in another player's name",
    as: 'player',
    send: operation(events, { input: { playerUniqueId: 'p2', events: [{ name: 'place_order' }] } }),
    status: 200,
    code: 'FORBIDDEN',
    data: { trackEvents: null },
  },
  {
    name: 'another player by a default',
    as: 'player',
    send: operation('query ($id: ID! = "p2") { player(playerUniqueId: $id) { id } }'),
    status: 200,
    code: 'FORBIDDEN',
    data: { player: null },
  },
  {
    name: 'another player by the name of an operation',
    as: 'player',
    send: operation(
      `query A { me { id } } query B { player(playerUniqueId: "p2") { id } }`,
      {},
      { operationName: 'B' },
    ),
    status: 200,
    code: 'FORBIDDEN',
    data: { player: null },
  },
  { name: 'oneself', send: operation(GOOD), status: 200, data: { me: { id: 'p1' } }, upstream: [PLAYER] },
];

export const inputs: Row[] = [
  ...identifiers,
  ...texts,
  ...numbers,
  ...attributes,
  ...eventRows,
  ...special,
  ...whoever,
];
