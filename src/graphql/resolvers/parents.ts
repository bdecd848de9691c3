/* The parents of resolvers that exist only in GraphQL; all others are the wire types of the REST client. */
import type { ReferredFriend } from '../../rest/wire.ts';
import type { UserError } from '../writes.ts';

export interface ReferredFriendEdgeParent {
  node: ReferredFriend;
  /** In the whole list, counted from 0. */
  row: number;
}

/** An `id` of type, owner and name, so that a client's cache never merges objects of two players or two types. */
export function opaqueId(type: 'Coupon' | 'ReferredFriend', owner: string, name: string | undefined): string | null {
  return name ? Buffer.from(JSON.stringify([type, owner, name])).toString('base64url') : null;
}

/** The outcome of a write to a player; when there are user errors, nothing was written. */
export interface WriteParent {
  playerUniqueId: string;
  userErrors: readonly UserError[];
}

export type UpsertPlayerParent = WriteParent & { serviceId: string | null };
export type TrackEventsParent = WriteParent & { eventNames: readonly string[] };
