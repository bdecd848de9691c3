import { GraphQLSchema, isInputObjectType, isObjectType, isSpecifiedDirective, printSchema } from 'graphql';
import type { AccessRule, AccessRules } from '../access/rules.ts';

/** Adds the needed scope to the description of each field, because clients do not see the `@access` directives. */
export function describeScopes(schema: GraphQLSchema, rules: AccessRules): void {
  for (const [typeName, ofType] of rules) {
    const type = schema.getType(typeName);
    if (!isObjectType(type) && !isInputObjectType(type)) continue;
    const fields = type.getFields();
    for (const [name, rule] of ofType) {
      const field = fields[name];
      if (field) field.description = [field.description, need(rule)].filter(Boolean).join(' ');
    }
  }
}

function need({ scope, exceptOwn, names }: AccessRule): string {
  if (exceptOwn) return `Needs \`${scope}\`, except for the caller's own player.`;
  return names ? `Needs \`${scope}\`, or \`${scope}:<name>\` for each name.` : `Needs \`${scope}\`.`;
}

/** The schema as one SDL text that every tool can read: without the gateway's own directives. */
export function printSdl(schema: GraphQLSchema): string {
  const directives = schema.getDirectives().filter(isSpecifiedDirective);
  return `${printSchema(new GraphQLSchema({ ...schema.toConfig(), directives }))}\n`;
}
