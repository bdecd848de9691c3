/**
 * The `id` of something that has no identifier of its own in the REST service: opaque, and made of its type, the player it
 * belongs to and its name there. So a client's cache never merges objects of two players or of two types.
 */
export function nodeId(type: 'Coupon' | 'ReferredFriend', owner: string, name: string): string {
  return Buffer.from(JSON.stringify([type, owner, name])).toString('base64url');
}
