import type { GraphQLResolveInfo } from 'graphql';
import { type Selected, selectsAny } from './selection.ts';

/** An object, with its `id` where that is selected. */
export type WithId<Item> = Item | (Item & { id: string });

const ID: ReadonlySet<string> = new Set(['id']);

/**
 * The items with an `id`, if one is selected below the nodes; an item without a code or an identifier gets none. They have
 * no identifier of their own in the REST service. The `id` is opaque, and made of type, owner and name, so that a client's
 * cache never merges objects of two players or of two types.
 */
export function withIds<Item>(
  items: readonly Item[],
  nameOf: (item: Item) => string | undefined,
  [type, owner]: [type: 'Coupon' | 'ReferredFriend', owner: string],
  nodes: readonly Selected[],
  info: GraphQLResolveInfo,
): readonly WithId<Item>[] {
  if (!selectsAny(nodes, type, ID, info)) return items;
  return items.map((item) => {
    const name = nameOf(item);
    if (name === undefined) return item;
    return { ...item, id: Buffer.from(JSON.stringify([type, owner, name])).toString('base64url') };
  });
}
