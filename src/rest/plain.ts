/** What JSON escapes it writes with a backslash, and no other character has this byte in UTF-8. */
const BACKSLASH = '\\'.charCodeAt(0);

/**
 * Whether the texts of an answer stand in JSON as they are, with nothing to escape: those that are read from its body, and
 * the id of the player it is about.
 */
export function isPlain(body: Buffer, playerUniqueId: string): boolean {
  return !body.includes(BACKSLASH) && JSON.stringify(playerUniqueId).length === playerUniqueId.length + 2;
}
