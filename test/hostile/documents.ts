/* Documents that cost more than they should, or ask for what is not told. */
import { bad, operation, PLAYER, type Row, repeat, rows } from './row.ts';

const invalid = { status: 400, code: 'GRAPHQL_VALIDATION_FAILED' };
const server = { as: 'server' } as const;

/** Fragments that each spread the next one twice. */
const bomb = (type: string, field: string) =>
  `${repeat(25, (n) => `fragment F${n} on ${type} { ...F${n + 1} ...F${n + 1} }`)} fragment F25 on ${type} { ${field} }`;
/** A chain of fragments from friend to friend. */
const chain = `${repeat(12, (n) => `fragment F${n} on Player { referredFriends { nodes { player { ...F${n + 1} } } } }`)} fragment F12 on Player { id }`;
const byType = 'query ($t: [CouponType!]) { me { coupons(filter: { couponTypes: $t }) { code } } }';
const x = (length: number) => 'x'.repeat(length);
const SCHEMA = '{ __schema { types { name } } }';
const circles = `{ __schema { types ${'{ fields { type '.repeat(6)}{ name }${' } }'.repeat(6)} } }`;
const aliases = repeat(40, (n) => `a${n}: id`);
const levels = `referredFriends { ${'nodes { status } '.repeat(14)} } `.repeat(14);
const nearly = '{ mee { id } me { idd coupon { code } ... on Playr { id @inclde(if: true) } } }';

export const documents: Row[] = [
  ...rows(
    { status: 400, code: 'OPERATION_TOO_COMPLEX' },
    ['a bomb of fragments', `{ me { ...F0 } } ${bomb('Player', 'id')}`, { limit: 'complexity' }],
    ['friends of friends, hidden in fragments', `{ me { ...F0 } } ${chain}`, { limit: 'depth' }],
    ['a bomb at the top', `{ ...F0 } ${bomb('Query', '__typename')}`, { limit: 'complexity' }],
    ['40,000 numbers', `{ players(playerUniqueIds: [${'1 '.repeat(40_000)}]) { id } }`, { limit: 'tokens' }],
    ['aliases in a fragment', `{ me { ...F } } fragment F on Player { ${aliases} }`, { limit: 'aliases' }],
    ['one field on two levels', `{ me { ${levels} } }`, { limit: 'repetitions' }],
  ),
  ...rows(
    invalid,
    ['a string of 250 KB for an enum', `{ me { coupons(filter: { couponTypes: ["${x(250_000)}"] }) { code } } }`],
    ['200 fields that do not exist', `{ me { ${repeat(200, (n) => `field${n}`)} } }`],
    ['fragments in a circle', '{ me { ...A } } fragment A on Player { ...B } fragment B on Player { ...A }'],
    ['a definition of a type', 'type Query { x: Int } { me { id } }'],
    ['introspection in circles', circles, server],
    // No name of the schema is told.
    ['fields that are nearly right', nearly, { hasNot: /did you mean/i }],
  ),
  ...rows(
    { status: 400, code: 'BAD_USER_INPUT', hasNot: /did you mean/i },
    ['a variable of 250 KB for an enum', operation(byType, { t: [x(250_000)] })],
    ['an enum value in a variable that is nearly right', operation(byType, { t: ['FREE_SHIPPIN'] })],
  ),
  ...rows(bad, ['a subscription', 'subscription { me { id } }']),
  ...rows(
    { status: 403, code: 'FORBIDDEN' },
    ['introspection in a fragment', '{ ...F } fragment F on Query { ... { __schema { types { name } } } }'],
    [
      'introspection by operation name',
      operation(`query A { me { id } } query B ${SCHEMA}`, {}, { operationName: 'B' }),
    ],
  ),
  ...rows(
    { status: 200 },
    ['introspection with schema:read', SCHEMA, { has: /PlayerAttributes/, ...server }],
    ['an alias of __proto__', '{ __proto__: me { id } }', { upstream: [PLAYER] }],
  ),
];
