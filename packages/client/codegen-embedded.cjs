/* A plugin of GraphQL Code Generator: the types that caches store inside of what contains them, because they have no `id`. */
const { isObjectType } = require('graphql');

/** graphcache embeds connections by itself, and only mutations return payloads. */
const OTHERS = /^(Query|Mutation|UserError|PageInfo|.*(Payload|Connection|Edge))$/;

exports.plugin = (schema) => {
  const types = Object.values(schema.getTypeMap()).filter((type) => isObjectType(type) && !type.getFields().id);
  const names = types.map(({ name }) => name).filter((name) => !name.startsWith('__') && !OTHERS.test(name));
  return `export const EMBEDDED = ${JSON.stringify(names.sort())} as const;`;
};
