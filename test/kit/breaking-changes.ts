import { CriticalityLevel, diff } from '@graphql-inspector/core';
import type { GraphQLSchema } from 'graphql';

/** What breaks clients between two schemas, without the changes whose coordinate a changelog names in backticks. */
export async function unannouncedChanges(
  released: GraphQLSchema,
  current: GraphQLSchema,
  changelog: string,
): Promise<string[]> {
  const changes = await diff(released, current);
  return changes
    .filter(({ criticality, path = '' }) => {
      return (
        criticality.level === CriticalityLevel.Breaking && !changelog.includes(`\`${coordinateOf(released, path)}\``)
      );
    })
    .map(({ message, path = '' }) => `${coordinateOf(released, path)}: ${message}`);
}

/** `Player.coupons.filter` is `Player.coupons(filter:)` in the notation of GraphQL. */
function coordinateOf(schema: GraphQLSchema, path: string): string {
  const [type = '', field, argument] = path.split('.');
  return argument !== undefined && schema.getType(type) ? `${type}.${field}(${argument}:)` : path;
}
