/* What the directives of the schema say, for access rules and for the limits of operations. */
import { type GraphQLSchema, getDirectiveValues } from 'graphql';

/** The fields that return the schema; `_service` belongs to federation. */
export const INTROSPECTION: ReadonlySet<string> = new Set(['__schema', '__type', '_service']);

/** The arguments of a directive, with their defaults; undefined without it. */
export function directiveOf(schema: GraphQLSchema, name: string, { astNode }: { astNode?: object | null | undefined }) {
  const directive = schema.getDirective(name);
  return directive && astNode ? getDirectiveValues(directive, astNode) : undefined;
}
