import { operation, PLAYER, type Row, rows } from './row.ts';

const tooComplex = (limit: string) => ({ status: 400, code: 'OPERATION_TOO_COMPLEX', limit });
const invalid = { status: 400, code: 'GRAPHQL_VALIDATION_FAILED' };
const unparsed = { status: 400, code: 'GRAPHQL_PARSE_FAILED' };
const server = { as: 'server' } as const;
const repeat = (count: number, make: (index: number) => string) =>
  Array.from({ length: count }, (_, n) => make(n)).join(' ');

/** Fragments that each spread the next one twice. */
const bomb = (size: number) =>
  `{ me { ...F0 } } ${repeat(size, (n) => `fragment F${n} on Player { ...F${n + 1} ...F${n + 1} }`)} fragment F${size} on Player { id }`;
/** The same, with fields between that lead from friend to friend. */
const deepBomb = (size: number) =>
  `{ me { ...F0 } } ${repeat(size, (n) => `fragment F${n} on Player { a: referredFriends { nodes { player { ...F${n + 1} } } } b: referredFriends { nodes { player { ...F${n + 1} } } } }`)} fragment F${size} on Player { id }`;
const rootBomb = bomb(25)
  .replaceAll('Player', 'Query')
  .replace('me { ...F0 }', '...F0')
  .replace('{ id }', '{ __typename }');
const nested = (levels: number) =>
  `{ me ${'{ referredFriends { nodes { player '.repeat(levels)}{ id }${' } } }'.repeat(levels)} }`;
const chain = repeat(12, (n) => `fragment F${n} on Player { referredFriends { nodes { player { ...F${n + 1} } } } }`);
const coupons =
  'coupons { code value currency isUsed isExpired startAt endAt product { productName variantName } group { title description } }';
const byType = 'query ($t: [CouponType!]) { me { coupons(filter: { couponTypes: $t }) { code } } }';

const sizes: Row[] = [
  ...rows(
    tooComplex('complexity'),
    ['a bomb of fragments', bomb(25)],
    ['a bomb of fragments that needs more tokens', bomb(90)],
    [
      'lists inside lists',
      '{ players(playerUniqueIds: ["p1"]) { referredFriends(limit: 200) { nodes { player { referredFriends(limit: 200) { nodes { player { id } } } } } } } }',
      server,
    ],
    [
      'two hundred friends as players with coupons',
      `query ($n: Int! = 200) { me { referredFriends(limit: $n) { nodes { player { ${coupons} } } } } }`,
      server,
    ],
  ),
  ...rows(
    tooComplex('depth'),
    ['a bomb of fragments through friends', deepBomb(8)],
    ['friends of friends without end', nested(20)],
    ['depth hidden in fragments', `{ me { ...F0 } } ${chain} fragment F12 on Player { id }`],
  ),
  ...rows(
    tooComplex('rootFields'),
    ['a bomb at the top', rootBomb],
    ['twenty-one players', `{ ${repeat(21, (n) => `a${n}: player(playerUniqueId: "p${n}") { id }`)} }`, server],
  ),
  ...rows(
    tooComplex('tokens'),
    ['a thousand aliases', `{ ${repeat(1_000, (n) => `a${n}: me { id }`)} }`],
    ['a list of 40,000 identifiers', `{ players(playerUniqueIds: [${'1 '.repeat(40_000)}]) { id } }`],
  ),
  ...rows(
    tooComplex('aliases'),
    ['a hundred aliases of coupons, to guess', `{ me { ${repeat(100, (n) => `a${n}: coupons { code }`)} } }`],
    ['aliases in a fragment', `{ me { ...F } } fragment F on Player { ${repeat(40, (n) => `a${n}: id`)} }`],
    ['fields that conflict', `{ me { ${repeat(300, (n) => `x: ${n % 2 ? 'id' : 'referralLink'}`)} } }`],
  ),
  ...rows(
    tooComplex('repetitions'),
    ['one field on two levels', `{ me { ${`referredFriends { ${'nodes { status } '.repeat(14)} } `.repeat(14)} } }`],
    [
      'one field by fragments',
      `{ me { ${repeat(40, (n) => `...F${n}`)} } } ${repeat(40, (n) => `fragment F${n} on Player { ${'attributes { city } '.repeat(3)} }`)}`,
    ],
  ),
  ...rows(tooComplex('aliasLength'), ['an alias of 200 KB', `{ ${'a'.repeat(200_000)}: __typename }`]),
  ...rows(
    { status: 400, code: 'OPERATION_TOO_COMPLEX' },
    ['a hundred aliases at the top', `{ ${repeat(100, (n) => `a${n}: __typename`)} }`],
    ['fields that overlap', `{ ${repeat(200, () => 'me { id }')} }`],
  ),
  ...rows(
    { status: 200, upstream: [PLAYER] },
    ['150 inline fragments', `{ me ${'{ ... on Player '.repeat(150)}{ id }${' }'.repeat(150)} }`],
    ['40 directives', `{ me { ${repeat(40, () => 'id @skip(if: false)')} } }`],
    ['an alias of __proto__', '{ __proto__: me { id } }'],
  ),
  ...rows(
    invalid,
    ['120 directives on one field', `{ me { id ${'@skip(if: false) '.repeat(120)} } }`],
    ['300 unknown directives', `{ me { id ${repeat(300, (n) => `@d${n}`)} } }`],
    ['a limit beyond integers', '{ me { referredFriends(limit: 99999999999) { total } } }'],
    ['a comment of 250 KB', `# ${'x'.repeat(250_000)}\n{ me { idd } }`],
    ['white space and commas of 250 KB', `{ me { idd ${', '.repeat(125_000)} } }`],
    [
      'a string of 250 KB for an enum',
      `{ me { coupons(filter: { couponTypes: ["${'x'.repeat(250_000)}"] }) { code } } }`,
    ],
    ['a field name of 200 KB', `{ ${'x'.repeat(200_000)} }`],
    ['200 fields that do not exist', `{ me { ${repeat(200, (n) => `field${n}`)} } }`],
  ),
  ...rows(
    { status: 400, code: 'BAD_USER_INPUT' },
    ['a variable of 250 KB for an enum', operation(byType, { t: ['x'.repeat(250_000)] })],
    ['5,000 variables that are wrong', operation(byType, { t: Array(5_000).fill('\u0001'.repeat(3)) })],
  ),
  ...rows({ status: 400 }, [
    'an operation name of 200 KB',
    operation('query A { __typename }', {}, { operationName: 'x'.repeat(200_000) }),
  ]),
];

const wrong: Row[] = [
  ...rows(
    invalid,
    [
      'fragments in a circle',
      '{ me { ...A } } fragment A on Player { ...B } fragment B on Player { ...C } fragment C on Player { ...A }',
    ],
    [
      'two operations of one name',
      operation(
        'query A { me { id } } mutation A { deletePlayer(input: { playerUniqueId: "p1" }) { userErrors { code } } }',
        {},
        { operationName: 'A' },
      ),
    ],
    ['a definition of a type', 'type Query { x: Int } { me { id } }'],
    ['@defer', '{ me { ... @defer { id } } }'],
    ['@stream', '{ me { coupons @stream { code } } }'],
    ['a directive of the schema', '{ me { id @access(scope: "any-player") } }'],
    ['fields of every JavaScript object', '{ constructor { name } toString hasOwnProperty }'],
  ),
  ...rows(
    unparsed,
    ['braces of 250 KB', '{'.repeat(250_000)],
    ['a comment alone', '# nothing'],
    ['half a surrogate pair in the document', '{ player(playerUniqueId: "\\uD800") { id } }'],
    ['a control character in the document', '{ me \u0007 { id } }'],
  ),
  ...rows(
    { status: 400 },
    ['an operation that does not exist', operation('query A { me { id } }', {}, { operationName: 'B' })],
    ['two operations and no name', 'query A { me { id } } query B { me { id } }'],
    ['an empty document', ''],
  ),
  ...rows({ status: 400, code: 'BAD_REQUEST' }, ['a subscription', 'subscription { me { id } }']),
];

const SCHEMA = '{ __schema { types { name } } }';
const introspection: Row[] = [
  ...rows(
    { status: 403, code: 'FORBIDDEN' },
    ['introspection', SCHEMA],
    ['introspection of one type', '{ __type(name: "Player") { fields { name } } }'],
    ['introspection under an alias', '{ me: __schema { types { name } } }'],
    ['introspection in a fragment', '{ ...F } fragment F on Query { ... { __schema { types { name } } } }'],
    ['introspection beside another field', '{ me { id } __schema { queryType { name } } }'],
    [
      'introspection that is skipped',
      'query ($no: Boolean = true) { me { id } __schema @skip(if: $no) { queryType { name } } }',
    ],
    [
      'introspection by operation name',
      operation('query A { me { id } } query B { __schema { types { name } } }', {}, { operationName: 'B' }),
    ],
  ),
  ...rows(
    invalid,
    ['introspection in a mutation', 'mutation { __schema { queryType { name } } }'],
    [
      'introspection in circles',
      `{ __schema { types ${'{ fields { type '.repeat(6)}{ name }${' } }'.repeat(6)} } }`,
      server,
    ],
  ),
  ...rows(tooComplex('aliases'), ['too large an introspection', `{ __schema { ${'x: description '.repeat(31)} } }`]),
  ...rows({ status: 200, has: /PlayerAttributes/ }, ['introspection with schema:read', SCHEMA, server]),
];

/** Names that are nearly right get no name of the schema in the error. */
const suggestions: Row[] = rows(
  { status: 400, hasNot: /did you mean/i },
  ['a field that is nearly right', '{ mee { id } }', invalid],
  ['a field of a field that is nearly right', '{ me { coupon { code } } }', invalid],
  ['an argument that is nearly right', '{ player(playerUniqueID: "p1") { id } }', invalid],
  ['a type that is nearly right', '{ me { ... on Playr { id } } }', invalid],
  ['a directive that is nearly right', '{ me { id @inclde(if: true) } }', invalid],
  ['a type of a variable that is nearly right', 'query ($x: CouponTyp) { me { id } }', invalid],
  [
    'an enum value that is nearly right',
    '{ me { coupons(filter: { couponTypes: [FREE_SHIPPIN] }) { code } } }',
    invalid,
  ],
  ['an enum value in a variable that is nearly right', operation(byType, { t: ['FREE_SHIPPIN'] })],
  ['an input field that is nearly right', '{ me { coupons(filter: { isUsd: true }) { code } } }', invalid],
  [
    'an input field in a variable that is nearly right',
    operation('query ($f: CouponFilter) { me { coupons(filter: $f) { code } } }', { f: { isUsd: true } }),
  ],
  [
    'an attribute that is nearly right',
    operation('mutation ($i: UpsertPlayerInput!) { upsertPlayer(input: $i) { serviceId } }', {
      i: { playerUniqueId: 'p1', attributes: { emial: 'x' } },
    }),
  ],
  ['several mistakes that are nearly right', '{ mee { id } plyer { id } me { idd coupon { code } } }', invalid],
);

export const shapes: Row[] = [...sizes, ...wrong, ...introspection, ...suggestions];
