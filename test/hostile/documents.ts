/* Documents that cost more than they should, or ask for what is not told. */
import { bad, operation, PLAYER, type Row, repeat, rows } from './row.ts';

const tooComplex = (limit: string) => ({ status: 400, code: 'OPERATION_TOO_COMPLEX', limit });
const invalid = { status: 400, code: 'GRAPHQL_VALIDATION_FAILED' };
const server = { as: 'server' } as const;

/** Fragments that each spread the next one twice. */
const bomb = (size: number, type = 'Player', field = 'id') =>
  `${repeat(size, (n) => `fragment F${n} on ${type} { ...F${n + 1} ...F${n + 1} }`)} fragment F${size} on ${type} { ${field} }`;
/** A chain of fragments from friend to friend. */
const chain = (size: number) =>
  `${repeat(size, (n) => `fragment F${n} on Player { referredFriends { nodes { player { ...F${n + 1} } } } }`)} fragment F${size} on Player { id }`;
const byType = 'query ($t: [CouponType!]) { me { coupons(filter: { couponTypes: $t }) { code } } }';
const x = (length: number) => 'x'.repeat(length);

const sizes: Row[] = [
  ...rows(
    tooComplex('complexity'),
    ['a bomb of fragments', `{ me { ...F0 } } ${bomb(25)}`],
    ['a bomb of fragments that needs more tokens', `{ me { ...F0 } } ${bomb(90)}`],
  ),
  ...rows(tooComplex('depth'), ['friends of friends, hidden in fragments', `{ me { ...F0 } } ${chain(12)}`]),
  ...rows(tooComplex('rootFields'), ['a bomb at the top', `{ ...F0 } ${bomb(25, 'Query', '__typename')}`]),
  ...rows(tooComplex('tokens'), [
    '40,000 identifiers',
    `{ players(playerUniqueIds: [${'1 '.repeat(40_000)}]) { id } }`,
  ]),
  ...rows(tooComplex('aliases'), [
    'aliases in a fragment',
    `{ me { ...F } } fragment F on Player { ${repeat(40, (n) => `a${n}: id`)} }`,
  ]),
  ...rows(tooComplex('repetitions'), [
    'one field on two levels',
    `{ me { ${`referredFriends { ${'nodes { status } '.repeat(14)} } `.repeat(14)} } }`,
  ]),
  ...rows(tooComplex('aliasLength'), ['an alias of 200 KB', `{ ${x(200_000)}: __typename }`]),
  ...rows(
    invalid,
    ['120 directives on one field', `{ me { id ${'@skip(if: false) '.repeat(120)} } }`],
    ['a string of 250 KB for an enum', `{ me { coupons(filter: { couponTypes: ["${x(250_000)}"] }) { code } } }`],
    ['a field name of 200 KB', `{ ${x(200_000)} }`],
    ['200 fields that do not exist', `{ me { ${repeat(200, (n) => `field${n}`)} } }`],
    ['fragments in a circle', '{ me { ...A } } fragment A on Player { ...B } fragment B on Player { ...A }'],
    ['a definition of a type', 'type Query { x: Int } { me { id } }'],
  ),
  ...rows(
    { status: 400, code: 'BAD_USER_INPUT' },
    ['a variable of 250 KB for an enum', operation(byType, { t: [x(250_000)] })],
    ['5,000 variables that are wrong', operation(byType, { t: Array(5_000).fill('\u0001'.repeat(3)) })],
  ),
  ...rows(bad, ['a subscription', 'subscription { me { id } }']),
  ...rows({ status: 200, upstream: [PLAYER] }, ['an alias of __proto__', '{ __proto__: me { id } }']),
];

const SCHEMA = '{ __schema { types { name } } }';
const introspection: Row[] = [
  ...rows(
    { status: 403, code: 'FORBIDDEN' },
    ['introspection', SCHEMA],
    ['introspection in a fragment', '{ ...F } fragment F on Query { ... { __schema { types { name } } } }'],
    [
      'introspection that is skipped',
      'query ($no: Boolean = true) { me { id } __schema @skip(if: $no) { queryType { name } } }',
    ],
    [
      'introspection by operation name',
      operation(`query A { me { id } } query B ${SCHEMA}`, {}, { operationName: 'B' }),
    ],
  ),
  ...rows(invalid, [
    'introspection in circles',
    `{ __schema { types ${'{ fields { type '.repeat(6)}{ name }${' } }'.repeat(6)} } }`,
    server,
  ]),
  ...rows({ status: 200, has: /PlayerAttributes/ }, ['introspection with schema:read', SCHEMA, server]),
];

/** Names that are nearly right get no name of the schema in the error. */
const suggestions: Row[] = rows(
  { status: 400, hasNot: /did you mean/i },
  [
    'fields that are nearly right',
    '{ mee { id } me { idd coupon { code } ... on Playr { id @inclde(if: true) } } }',
    invalid,
  ],
  ['an enum value in a variable that is nearly right', operation(byType, { t: ['FREE_SHIPPIN'] })],
  [
    'an input field in a variable that is nearly right',
    operation('query ($f: CouponFilter) { me { coupons(filter: $f) { code } } }', { f: { isUsd: true } }),
  ],
);

export const documents: Row[] = [...sizes, ...introspection, ...suggestions];
