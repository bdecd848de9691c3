import { expect, test } from '@jest/globals';
import { errorAt, gatewayErrors } from '../../packages/client/src/errors.ts';
import { SEMANTIC_NON_NULL } from '../../tools/docs/client-files.ts';
import { startBoth } from '../kit/gateway.ts';

/* What the package's second SDL says of each field with `@semanticNonNull`: null only beside an error at its path. */

const PARTS = 'coupons { code } referredFriends { total } referredFriendsConnection { totalCount } attributes { city }';
const INPUT = 'playerUniqueId: "p1"';
const QUERIES = [
  `{ player(playerUniqueId: "p1") { ${PARTS} } players(playerUniqueIds: ["p1", "nobody", "p2"]) { id ${PARTS} } }`,
  `{ me { id coupons { code } } node(id: "nobody") { ... on Player { ${PARTS} } } }`,
  `mutation { upsertPlayer(input: { ${INPUT} }) { player { ${PARTS} } } deletePlayer(input: { ${INPUT} }) { deletedPlayerUniqueId } }`,
  `mutation { trackEvents(input: { ${INPUT}, events: [{ name: "a" }] }) { player { ${PARTS} } } }`,
];
const ENDPOINTS = [
  'GET /player',
  'GET /coupon',
  'GET /referrals',
  'POST /player',
  'DELETE /player',
  'POST /event',
] as const;
const FAILURES = [500, 403, 404, 422, 429].map((status) => ({ status, body: { code: 1 } }));
const NAMES = new Set(SEMANTIC_NON_NULL.map((coordinate) => coordinate.split('.')[1]));

/** The paths of nulls below a value, at fields that are never null without an error. */
function* nullsOf(value: unknown, path: readonly (string | number)[] = []): Generator<string> {
  if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* nullsOf(item, [...path, index]);
  else if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value)) {
      if (member === null && NAMES.has(name)) yield [...path, name].join('.');
      yield* nullsOf(member, [...path, name]);
    }
}

test('a null of such a field has an error at its path, whatever fails', async () => {
  const { gateway, upstream } = await startBoth({ REST_TIMEOUT_MS: '2000' });
  let nulls = 0;
  for (const failing of ENDPOINTS) {
    for (const failure of FAILURES) {
      upstream.reset();
      upstream.on(failing, failure);
      for (const query of QUERIES) {
        const { data, errors } = await gateway.query(query);
        for (const path of nullsOf(data)) {
          nulls += 1;
          expect([failing, failure.status, path, errorAt(gatewayErrors(errors), path)?.path]).not.toContain(undefined);
        }
      }
    }
  }
  expect(nulls).toBeGreaterThan(10);
});
