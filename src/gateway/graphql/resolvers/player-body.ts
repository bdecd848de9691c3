import type { PlayerAttributesInput, UpsertPlayerInput } from '../../../generated/graphql.ts';
import type { PlayerUpsertRequest } from '../../../rest/wire.ts';

type WireAttributes = NonNullable<PlayerUpsertRequest['playerAttributes']>;

/** The body of an upsert. What is null, empty or left out is not sent: the service leaves it as it is. */
export function upsertBody({ playerUniqueId, attributes, device }: UpsertPlayerInput): PlayerUpsertRequest {
  return {
    playerUniqueId,
    ...(attributes ? { playerAttributes: wireAttributes(attributes) } : {}),
    ...(device?.token ? { deviceToken: device.token } : {}),
    ...(device ? { osType: device.osType } : {}),
  };
}

/** Members have the same names on both sides; only tags have another form. */
function wireAttributes({ tags, custom, ...rest }: PlayerAttributesInput): WireAttributes {
  return {
    ...withoutEmpty(rest),
    ...(tags?.length ? { tags: tags.map((tag) => tag.trim()).join(',') } : {}),
    ...(custom ? { custom: withoutEmpty(custom) } : {}),
  };
}

function withoutEmpty<Members extends object>(members: Members): Partial<Members> {
  const known: Partial<Members> = {};
  for (const name in members) if (members[name] != null && members[name] !== '') known[name] = members[name];
  return known;
}
