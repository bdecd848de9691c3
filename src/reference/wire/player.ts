import * as z from 'zod';
import { date, dateTime, integer, number, optional, playerUniqueId, text } from './members.ts';

/** `custom`: keys of the client's choice with texts or numbers; a key with `null` counts as absent. */
const custom = z
  .record(z.string(), z.union([z.string(), z.number(), z.null()], 'must be text or a number'), 'must be an object')
  .superRefine((given, context) => {
    for (const [key, value] of Object.entries(given)) {
      // JSON numbers are read as doubles: larger whole numbers would be changed.
      if (!Number.isInteger(value) || Number.isSafeInteger(value)) continue;
      context.addIssue({ code: 'custom', path: [key], message: BEYOND_2_53 });
    }
  })
  .transform((given) =>
    Object.fromEntries(Object.entries(given).filter((entry): entry is [string, string | number] => entry[1] !== null)),
  );

const BEYOND_2_53 = 'must be text if it is a whole number beyond 2^53 - 1, which cannot be stored exactly';

/** The attributes of a player as they arrive. Unknown members are ignored. */
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
 * The attributes after an update: sent members replace known ones, `custom` is merged by key. Undefined if nothing was
 * sent: no attributes, only `null` and empty text, or a `custom` without values.
 */
export function mergeAttributes(
  known: PlayerAttributes | undefined,
  sent: PlayerAttributes | undefined,
): PlayerAttributes | undefined {
  const { custom = {}, ...others } = sent ?? {};
  const given = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== undefined));
  const hasCustom = Object.keys(custom).length > 0;
  if (Object.keys(given).length === 0 && !hasCustom) return undefined;
  return { ...known, ...given, ...(hasCustom && { custom: { ...known?.custom, ...custom } }) };
}
