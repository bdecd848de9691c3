import { operation, type Row } from './row.ts';

const tooComplex = (limit: string) => ({ status: 400, code: 'OPERATION_TOO_COMPLEX', limit });
const invalid = { status: 400, code: 'GRAPHQL_VALIDATION_FAILED' };
const unparsed = { status: 400, code: 'GRAPHQL_PARSE_FAILED' };
const repeat = (count: number, make: (index: number) => string) =>
  Array.from({ length: count }, (_, n) => make(n)).join(' ');

/** Fragments that each spread the next one twice. */
const bomb = (size: number) =>
  `{ me { ...F0 } } ${repeat(size, (n) => `fragment F${n} on Player { ...F${n + 1} ...F${n + 1} }`)} fragment F${size} on Player { id }`;
/** The same, with fields between that lead from friend to friend. */
const deepBomb = (size: number) =>
  `{ me { ...F0 } } ${repeat(size, (n) => `fragment F${n} on Player { a: referredFriends { nodes { player { ...F${n + 1} } } } b: referredFriends { nodes { player { ...F${n + 1} } } } }`)} fragment F${size} on Player { id }`;
const nested = (levels: number) =>
  `{ me ${'{ referredFriends { nodes { player '.repeat(levels)}{ id }${' } } }'.repeat(levels)} }`;

const sizes: Row[] = [
  { name: 'a bomb of fragments', send: operation(bomb(25)), ...tooComplex('complexity') },
  { name: 'a bomb of fragments that needs more tokens', send: operation(bomb(90)), ...tooComplex('complexity') },
  { name: 'a bomb of fragments through friends', send: operation(deepBomb(8)), ...tooComplex('depth') },
  {
    name: 'a bomb at the top',
    send: operation(
      bomb(25).replaceAll('Player', 'Query').replace('me { ...F0 }', '...F0').replace('{ id }', '{ __typename }'),
    ),
    ...tooComplex('rootFields'),
  },
  {
    name: 'a thousand aliases',
    send: operation(`{ ${repeat(1_000, (n) => `a${n}: me { id }`)} }`),
    ...tooComplex('tokens'),
  },
  {
    name: 'a hundred aliases at the top',
    send: operation(`{ ${repeat(100, (n) => `a${n}: __typename`)} }`),
    status: 400,
    code: 'OPERATION_TOO_COMPLEX',
  },
  {
    name: 'a hundred aliases of coupons, to guess',
    send: operation(`{ me { ${repeat(100, (n) => `a${n}: coupons { code }`)} } }`),
    ...tooComplex('aliases'),
  },
  {
    name: 'aliases hidden in a fragment',
    send: operation(`{ me { ...F } } fragment F on Player { ${repeat(40, (n) => `a${n}: id`)} }`),
    ...tooComplex('aliases'),
  },
  {
    name: 'twenty-one players',
    send: operation(`{ ${repeat(21, (n) => `a${n}: player(playerUniqueId: "p${n}") { id }`)} }`),
    as: 'server',
    ...tooComplex('rootFields'),
  },
  { name: 'friends of friends without end', send: operation(nested(20)), ...tooComplex('depth') },
  {
    name: 'depth hidden in fragments',
    send: operation(
      `{ me { ...A } } ${repeat(12, (n) => `fragment ${String.fromCharCode(65 + n)} on Player { referredFriends { nodes { player { ...${String.fromCharCode(66 + n)} } } } }`)} fragment M on Player { id }`,
    ),
    ...tooComplex('depth'),
  },
  {
    name: 'depth in inline fragments',
    send: operation(`{ me ${'{ ... on Player '.repeat(150)}{ id }${' }'.repeat(150)} }`),
    status: 200,
    upstream: ['GET /integrations/player/p1'],
  },
  {
    name: 'a flood of directives',
    send: operation(`{ me { ${repeat(40, () => 'id @skip(if: false)')} } }`),
    status: 200,
    upstream: ['GET /integrations/player/p1'],
  },
  {
    name: 'a flood of one directive on one field',
    send: operation(`{ me { id ${'@skip(if: false) '.repeat(120)} } }`),
    ...invalid,
  },
  {
    name: 'a flood of unknown directives',
    send: operation(`{ me { id ${repeat(300, (n) => `@d${n}`)} } }`),
    ...invalid,
  },
  {
    name: 'lists inside lists',
    send: operation(
      '{ players(playerUniqueIds: ["p1"]) { referredFriends(limit: 200) { nodes { player { referredFriends(limit: 200) { nodes { player { id } } } } } } } }',
    ),
    as: 'server',
    ...tooComplex('complexity'),
  },
  {
    name: 'two hundred friends as players with coupons',
    send: operation(
      'query ($n: Int! = 200) { me { referredFriends(limit: $n) { nodes { player { coupons { code value currency isUsed isExpired startAt endAt product { productName variantName } group { title description } } } } } } }',
    ),
    as: 'server',
    ...tooComplex('complexity'),
  },
  {
    name: 'a limit beyond integers',
    send: operation('{ me { referredFriends(limit: 99999999999) { total } } }'),
    ...invalid,
  },
  {
    name: 'an alias of 200 KB',
    send: operation(`{ ${'a'.repeat(200_000)}: __typename }`),
    ...tooComplex('aliasLength'),
  },
  {
    name: 'fields that conflict, all with all',
    send: operation(`{ me { ${repeat(300, (n) => `x: ${n % 2 ? 'id' : 'referralLink'}`)} } }`),
    ...tooComplex('aliases'),
  },
  {
    name: 'fields that overlap, all with all',
    send: operation(`{ ${repeat(200, () => 'me { id }')} }`),
    status: 400,
    code: 'OPERATION_TOO_COMPLEX',
  },
  {
    name: 'the same fields many times, on two levels',
    send: operation(`{ me { ${`referredFriends { ${'nodes { status } '.repeat(14)} } `.repeat(14)} } }`),
    ...tooComplex('repetitions'),
  },
  {
    name: 'the same fields many times, by fragments',
    send: operation(
      `{ me { ${'...F '.repeat(40)} } } fragment F on Player { ${'referredFriends { nodes { status } } '.repeat(14)} }`,
    ),
    ...tooComplex('repetitions'),
  },
  { name: 'a comment of 250 KB', send: operation(`# ${'x'.repeat(250_000)}\n{ me { idd } }`), ...invalid },
  { name: 'white space and commas of 250 KB', send: operation(`{ me { idd ${', '.repeat(125_000)} } }`), ...invalid },
  { name: 'braces of 250 KB', send: operation('{'.repeat(250_000)), ...unparsed },
  {
    name: 'a list of 40,000 identifiers',
    send: operation(`{ players(playerUniqueIds: [${'1 '.repeat(40_000)}]) { id } }`),
    ...tooComplex('tokens'),
  },
  {
    name: 'a string of 250 KB where an enum stands',
    send: operation(`{ me { coupons(filter: { couponTypes: ["${'x'.repeat(250_000)}"] }) { code } } }`),
    ...invalid,
  },
  {
    name: 'a variable of 250 KB where an enum stands',
    send: operation('query ($t: [CouponType!]) { me { coupons(filter: { couponTypes: $t }) { code } } }', {
      t: ['x'.repeat(250_000)],
    }),
    status: 400,
    code: 'BAD_USER_INPUT',
  },
  {
    name: '5,000 variables that are wrong',
    send: operation('query ($t: [CouponType!]) { me { coupons(filter: { couponTypes: $t }) { code } } }', {
      t: Array(5_000).fill('\u0001'.repeat(3)),
    }),
    status: 400,
    code: 'BAD_USER_INPUT',
  },
  { name: 'a field name of 200 KB', send: operation(`{ ${'x'.repeat(200_000)} }`), ...invalid },
  {
    name: 'an operation name of 200 KB',
    send: operation('query A { __typename }', {}, { operationName: 'x'.repeat(200_000) }),
    status: 400,
  },
  {
    name: '200 fields that do not exist',
    send: operation(`{ me { ${repeat(200, (n) => `field${n}`)} } }`),
    ...invalid,
  },
];

const wrong: Row[] = [
  {
    name: 'a fragment that spreads itself',
    send: operation('{ me { ...F } } fragment F on Player { id ...F }'),
    ...invalid,
  },
  {
    name: 'fragments in a circle',
    send: operation(
      '{ me { ...A } } fragment A on Player { ...B } fragment B on Player { ...C } fragment C on Player { ...A }',
    ),
    ...invalid,
  },
  { name: 'a fragment nobody uses', send: operation('{ me { id } } fragment F on Player { id }'), ...invalid },
  {
    name: 'a fragment twice',
    send: operation('{ me { ...F } } fragment F on Player { id } fragment F on Player { referralLink }'),
    ...invalid,
  },
  { name: 'a fragment on nothing', send: operation('{ me { ... on Nothing { id } } }'), ...invalid },
  { name: 'a fragment that does not exist', send: operation('{ me { ...F } }'), ...invalid },
  {
    name: 'an operation that does not exist',
    send: operation('query A { me { id } }', {}, { operationName: 'B' }),
    status: 400,
  },
  { name: 'two operations and no name', send: operation('query A { me { id } } query B { me { id } }'), status: 400 },
  {
    name: 'two operations of one name',
    send: operation(
      'query A { me { id } } mutation A { deletePlayer(input: { playerUniqueId: "p1" }) { userErrors { code } } }',
      {},
      { operationName: 'A' },
    ),
    ...invalid,
  },
  { name: 'a subscription', send: operation('subscription { me { id } }'), status: 400, code: 'BAD_REQUEST' },
  { name: 'a definition of a type', send: operation('type Query { x: Int } { me { id } }'), ...invalid },
  { name: 'an empty document', send: operation(''), status: 400 },
  { name: 'a comment alone', send: operation('# nothing'), ...unparsed },
  { name: 'an empty selection', send: operation('{ me { } }'), ...unparsed },
  { name: 'a player without a selection', send: operation('{ me }'), ...invalid },
  { name: '@defer', send: operation('{ me { ... @defer { id } } }'), ...invalid },
  { name: '@stream', send: operation('{ me { coupons @stream { code } } }'), ...invalid },
  { name: 'a directive of the schema', send: operation('{ me { id @access(scope: "any-player") } }'), ...invalid },
  {
    name: 'a variable twice',
    send: operation('query ($a: ID!, $a: ID!) { player(playerUniqueId: $a) { id } }', { a: 'p1' }),
    ...invalid,
  },
  {
    name: 'a variable that is not declared',
    send: operation('{ player(playerUniqueId: $id) { id } }', { id: 'p1' }),
    ...invalid,
  },
  { name: 'a variable of a type that is no input', send: operation('query ($p: Player) { me { id } }'), ...invalid },
  {
    name: 'half a surrogate pair in the document',
    send: operation('{ player(playerUniqueId: "\\uD800") { id } }'),
    ...unparsed,
  },
  {
    name: 'a letter beyond Unicode in the document',
    send: operation('{ player(playerUniqueId: "\\u{110000}") { id } }'),
    ...unparsed,
  },
  { name: 'a control character in the document', send: operation('{ me \u0007 { id } }'), ...unparsed },
  {
    name: 'an alias of __proto__',
    send: operation('{ __proto__: me { id } }'),
    status: 200,
    upstream: ['GET /integrations/player/p1'],
  },
  {
    name: 'a field of every object of JavaScript',
    send: operation('{ constructor { name } toString hasOwnProperty }'),
    ...invalid,
  },
];

const SCHEMA = '{ __schema { types { name } } }';
const forbidden = { status: 403, code: 'FORBIDDEN' };
const introspection: Row[] = [
  { name: 'introspection', send: operation(SCHEMA), ...forbidden },
  {
    name: 'introspection of one type',
    send: operation('{ __type(name: "Player") { fields { name } } }'),
    ...forbidden,
  },
  { name: 'introspection under an alias', send: operation('{ me: __schema { types { name } } }'), ...forbidden },
  {
    name: 'introspection in a fragment',
    send: operation('{ ...F } fragment F on Query { ... { __schema { types { name } } } }'),
    ...forbidden,
  },
  {
    name: 'introspection beside an honest field',
    send: operation('{ me { id } __schema { queryType { name } } }'),
    ...forbidden,
  },
  {
    name: 'introspection in an operation that is too large besides',
    send: operation(`{ __schema { ${'x: description '.repeat(31)} } }`),
    ...tooComplex('aliases'),
  },
  {
    name: 'introspection in a mutation',
    send: operation('mutation { __schema { queryType { name } } }'),
    ...invalid,
  },
  {
    name: 'introspection that is skipped',
    send: operation('query ($no: Boolean = true) { me { id } __schema @skip(if: $no) { queryType { name } } }'),
    ...forbidden,
  },
  {
    name: 'introspection by name, the other operation honest',
    send: operation('query A { me { id } } query B { __schema { types { name } } }', {}, { operationName: 'B' }),
    ...forbidden,
  },
  {
    name: 'introspection in circles',
    send: operation(`{ __schema { types ${'{ fields { type '.repeat(6)}{ name }${' } }'.repeat(6)} } }`),
    as: 'server',
    ...invalid,
  },
  {
    name: 'introspection by a caller with schema:read',
    send: operation(SCHEMA),
    as: 'server',
    status: 200,
    has: /PlayerAttributes/,
  },
];

const quiet = { hasNot: /did you mean/i };
const suggestions: Row[] = [
  { name: 'a field that is nearly right', send: operation('{ mee { id } }'), ...invalid, ...quiet },
  { name: 'a member that is nearly right', send: operation('{ me { coupon { code } } }'), ...invalid, ...quiet },
  {
    name: 'an argument that is nearly right',
    send: operation('{ player(playerUniqueID: "p1") { id } }'),
    ...invalid,
    ...quiet,
  },
  { name: 'a type that is nearly right', send: operation('{ me { ... on Playr { id } } }'), ...invalid, ...quiet },
  {
    name: 'a directive that is nearly right',
    send: operation('{ me { id @inclde(if: true) } }'),
    ...invalid,
    ...quiet,
  },
  {
    name: 'a type of a variable that is nearly right',
    send: operation('query ($x: CouponTyp) { me { id } }'),
    ...invalid,
    ...quiet,
  },
  {
    name: 'an enum value that is nearly right',
    send: operation('{ me { coupons(filter: { couponTypes: [FREE_SHIPPIN] }) { code } } }'),
    ...invalid,
    ...quiet,
  },
  {
    name: 'an enum value in a variable that is nearly right',
    send: operation('query ($t: [CouponType!]) { me { coupons(filter: { couponTypes: $t }) { code } } }', {
      t: ['FREE_SHIPPIN'],
    }),
    status: 400,
    ...quiet,
  },
  {
    name: 'an input member that is nearly right',
    send: operation('{ me { coupons(filter: { isUsd: true }) { code } } }'),
    ...invalid,
    ...quiet,
  },
  {
    name: 'an input member in a variable that is nearly right',
    send: operation('query ($f: CouponFilter) { me { coupons(filter: $f) { code } } }', { f: { isUsd: true } }),
    status: 400,
    ...quiet,
  },
  {
    name: 'an attribute that is nearly right',
    send: operation('mutation ($i: UpsertPlayerInput!) { upsertPlayer(input: $i) { serviceId } }', {
      i: { playerUniqueId: 'p1', attributes: { emial: 'x' } },
    }),
    status: 400,
    ...quiet,
  },
  {
    name: 'several mistakes that are nearly right',
    send: operation('{ mee { id } plyer { id } me { idd coupon { code } } }'),
    ...invalid,
    ...quiet,
  },
];

export const shapes: Row[] = [...sizes, ...wrong, ...introspection, ...suggestions];
