import { GraphQLSchema, isSpecifiedDirective, printSchema } from 'graphql';

/** The schema as one SDL text that every tool can read: without the gateway's own directives. */
export function printSdl(schema: GraphQLSchema): string {
  const directives = schema.getDirectives().filter(isSpecifiedDirective);
  return `${printSchema(new GraphQLSchema({ ...schema.toConfig(), directives }))}\n`;
}
