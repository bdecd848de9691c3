/* A plugin of GraphQL Code Generator: the player and the long names of the demo, for the states of /testing. */
const { attributes, longNames } = require('../reference/demo.json');

exports.plugin = () => {
  const player = { ...attributes, tags: attributes.tags.split(',') };
  const names = longNames.friends.map(({ displayName = null }) => displayName);
  return `export const ATTRIBUTES: Readonly<Record<string, unknown>> = ${JSON.stringify(player, null, 2)};

export const LONG_NAMES: readonly (string | null)[] = ${JSON.stringify(names, null, 2)};`;
};
