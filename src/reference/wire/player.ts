import * as z from 'zod';
import { date, dateTime, integer, number, optional, playerUniqueId, text } from './members.ts';

/** `custom`: keys of the client's choice with texts or numbers; a key with `null` counts as absent. */
const custom = z
  .record(z.string(), z.union([z.string(), z.number(), z.null()], 'must be text or a number'), 'must be an object')
  .transform((given) =>
    Object.fromEntries(Object.entries(given).filter((entry): entry is [string, string | number] => entry[1] !== null)),
  );

/** The attributes of a player as they arrive. Members that the interface does not name are left away. */
const playerAttributes = z.object(
  {
    displayName: optional(text),
    firstName: optional(text),
    lastName: optional(text),
    mobile: optional(text),
    gender: optional(text),
    email: optional(text),
    dateOfBirth: optional(dateTime),
    joinDate: optional(dateTime),
    tags: optional(text),
    country: optional(text),
    city: optional(text),
    zip: optional(text),
    totalSpent: optional(number),
    totalOrders: optional(integer),
    lastOrderDate: optional(date),
    avgOrderAmount: optional(number),
    custom: optional(custom),
  },
  'must be an object',
);

/** The body of `POST /integrations/player`. */
export const playerUpsert = z
  .object(
    {
      playerUniqueId,
      playerAttributes: optional(playerAttributes),
      deviceToken: optional(text),
      osType: optional(text),
    },
    'must be an object',
  )
  .refine(({ deviceToken, osType }) => deviceToken === undefined || osType !== undefined, {
    path: ['osType'],
    message: 'must be given with a deviceToken',
  });

export type PlayerUpsert = z.output<typeof playerUpsert>;
export type PlayerAttributes = z.output<typeof playerAttributes>;

/**
 * The attributes after an update: what was sent replaces what was known, `custom` key by key, and the rest stays.
 * Undefined when nothing was sent that says anything.
 */
export function mergeAttributes(
  known: PlayerAttributes | undefined,
  sent: PlayerAttributes | undefined,
): PlayerAttributes | undefined {
  const given = Object.fromEntries(Object.entries(sent ?? {}).filter(([, value]) => value !== undefined));
  if (Object.keys(given).length === 0) return undefined;
  return { ...known, ...given, ...(sent?.custom && { custom: { ...known?.custom, ...sent.custom } }) };
}
