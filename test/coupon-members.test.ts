import { afterAll, expect, test } from '@jest/globals';
import { type GraphQLObjectType, getNamedType, isObjectType } from 'graphql';
import { startBoth } from './kit/gateway.ts';
import { schema } from './kit/schema.ts';
import { UNLIMITED } from './kit/tokens.ts';

/* Members of coupons are decoded only for operations that select them. */

const both = await startBoth(UNLIMITED);
afterAll(() => both.close());

const couponsOf = (selection: string, args = '') =>
  `{ player(playerUniqueId: "p1") { coupons${args} { ${selection} } } }`;

/** The paths to all leaves below a type, such as `['group', 'title']`. */
function leavesOf(type: GraphQLObjectType): string[][] {
  return Object.values(type.getFields()).flatMap((field) => {
    const inner = getNamedType(field.type);
    return isObjectType(inner) ? leavesOf(inner).map((path) => [field.name, ...path]) : [[field.name]];
  });
}

const selectionOf = (path: readonly string[]) => path.reduceRight((inner, name) => `${name} { ${inner} }`);

/** The same object with nothing but the member at a path. */
function only(value: unknown, [name = '', ...rest]: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((one) => only(one, [name, ...rest]));
  if (value === null || value === undefined) return value;
  const member: unknown = Reflect.get(Object(value), name);
  return { [name]: rest.length === 0 ? member : only(member, rest) };
}

const coupon = schema.getType('Coupon');
const leaves = isObjectType(coupon) ? leavesOf(coupon) : [];

test('each member alone has the values that it has beside all others', async () => {
  const members = new Map<string, string[]>();
  for (const [name = '', ...rest] of leaves) {
    members.set(name, [...(members.get(name) ?? []), ...(rest.length > 0 ? [selectionOf(rest)] : [])]);
  }
  const all = [...members].map(([name, inner]) => (inner.length > 0 ? `${name} { ${inner.join(' ')} }` : name));
  const { data } = await both.gateway.query(couponsOf(all.join(' ')));
  for (const path of leaves) {
    const alone = await both.gateway.query(couponsOf(selectionOf(path)));
    expect(alone.data).toEqual({ player: { coupons: only(data?.player.coupons, path) } });
  }
  expect(leaves.length).toBeGreaterThan(35);
});

test('a filter sees what nobody selected', async () => {
  const filter = '(filter: { usableNow: true, group: "welcome" })';
  const { data } = await both.gateway.query(couponsOf('value', filter));
  expect(data?.player.coupons).toEqual([10, 12, 14, 16, 18].map((value) => ({ value })));
});
