import type { PlayerAttributesInput, UpsertPlayerInput } from '../../../generated/graphql.ts';
import type { PlayerUpsertRequest } from '../../../rest/wire.ts';

type WireAttributes = NonNullable<PlayerUpsertRequest['playerAttributes']>;

/** The body the REST service takes for an upsert. What is null or left out is not sent: it stays as it is. */
export function upsertBody({ playerUniqueId, attributes, device }: UpsertPlayerInput): PlayerUpsertRequest {
  return {
    playerUniqueId,
    ...(attributes ? { playerAttributes: wireAttributes(attributes) } : {}),
    ...(device?.token ? { deviceToken: device.token } : {}),
    ...(device ? { osType: device.osType } : {}),
  };
}

/** Members have the same names on both sides; only tags travel in another form. */
function wireAttributes({ tags, ...rest }: PlayerAttributesInput): WireAttributes {
  const known = Object.fromEntries(Object.entries(rest).filter(([, value]) => value != null));
  return tags ? { ...known, tags: tags.map((tag) => tag.trim()).join(',') } : known;
}
