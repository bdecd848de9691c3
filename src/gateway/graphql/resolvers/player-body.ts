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

/** The members have the same names in GraphQL and REST. Tags are sent as one comma-separated text. */
function wireAttributes({ tags, custom, ...rest }: PlayerAttributesInput): WireAttributes {
  const free = withoutEmpty(custom ?? {});
  return {
    ...withoutEmpty(rest),
    ...(tags?.length ? { tags: tags.map((tag) => tag.trim()).join(',') } : {}),
    ...(Object.keys(free).length > 0 ? { custom: free } : {}),
  };
}

function withoutEmpty<Value>(members: Record<string, Value>): Record<string, NonNullable<Value>> {
  const known: Record<string, NonNullable<Value>> = Object.create(null);
  for (const [name, value] of Object.entries(members)) if (value != null && value !== '') known[name] = value;
  return known;
}
