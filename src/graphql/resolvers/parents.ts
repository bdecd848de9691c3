/* The parents of resolvers that exist only in GraphQL; all others are the wire types of the REST client. */
import type { ReferredFriend } from '../../rest/decode/referral.ts';
import type { UserError } from '../writes.ts';

export interface ReferredFriendEdgeParent {
  node: ReferredFriend;
  /** In the whole list, counted from 0. */
  row: number;
}

/** The outcome of a write to a player; when there are user errors, nothing was written. */
export interface WriteParent {
  playerUniqueId: string;
  userErrors: readonly UserError[];
}

export type UpsertPlayerParent = WriteParent & { serviceId: string | null };
export type TrackEventsParent = WriteParent & { eventNames: readonly string[] };
