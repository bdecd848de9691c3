import { HeaderMap } from '@apollo/server';
import type { DocumentNode, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import type { Context } from '../graphql/context.ts';
import { ClientError, type GatewayErrorCode } from '../graphql/errors.ts';
import { LastFound } from '../graphql/memoize-last.ts';
import { type Measure, measureOperation } from './measure.ts';

/** How large an operation may be. Body size and tokens are limited before there is an operation; the rest is here. */
export interface OperationLimits {
  depth: number;
  aliases: number;
  /** How long an alias may be: it comes back in the answer, once for each member of a list. */
  aliasLength: number;
  rootFields: number;
  directives: number;
  complexity: number;
}

/** An operation that is about to be executed. */
export interface Checked {
  schema: GraphQLSchema;
  document: DocumentNode;
  operation: OperationDefinitionNode;
  variables: Record<string, unknown> | undefined;
  context: Context;
}

export interface LimitsOptions {
  limits: OperationLimits;
  /** Whether anybody may ask for the schema; otherwise it needs the scope `schema:read`. */
  openIntrospection: boolean;
  /** Whether answers tell what the operation cost, under `extensions.cost`. */
  publishCost: boolean;
}

/** How large an operation is. */
interface Measured {
  measure: Measure;
  /** The first limit that it is over. */
  over: keyof OperationLimits | undefined;
}

/** Refuses operations that are too large or not allowed, after validation and before anything is executed. */
export function createLimitsCheck({ limits, openIntrospection, publishCost }: LimitsOptions) {
  // Documents are parsed once and kept, and measure the same as long as the variables that size their lists do not change.
  const known = new LastFound<OperationDefinitionNode, Measured>();
  return ({ schema, document, operation, variables = {}, context }: Checked): void => {
    if (!schema.getRootType(operation.operation)) {
      throw refusal('BAD_REQUEST', 400, `The schema has no ${operation.operation}.`);
    }
    let measured = known.get(operation, variables);
    if (!measured) {
      const measure = measureOperation(schema, document, operation, variables);
      measured = { measure, over: SIZES.find((size) => measure[size] > limits[size]) };
      known.set(operation, measure.variables, variables, measured);
    }
    const { measure, over } = measured;
    if (measure.introspects && !openIntrospection && !context.caller.scopes.has('schema:read')) {
      throw refusal('FORBIDDEN', 403, 'Introspection needs the scope "schema:read".');
    }
    if (over) throw tooLarge(over, limits);
    if (publishCost) context.extensions['cost'] = { complexity: measure.complexity, depth: measure.depth };
  };
}

/** What each limit is about, in words a developer can act on. */
const WORDS: Record<keyof OperationLimits, string> = {
  depth: 'levels of fields',
  aliases: 'aliases',
  aliasLength: 'characters in one alias',
  rootFields: 'fields at the top',
  directives: 'directives',
  complexity: 'fields, those of lists counted for each member',
};

const SIZES = Object.keys(WORDS) as (keyof OperationLimits)[];

function tooLarge(limit: keyof OperationLimits, { [limit]: max }: OperationLimits): ClientError {
  const message = `The operation has more than ${max} ${WORDS[limit]}. Ask for less at once.`;
  return refusal('OPERATION_TOO_COMPLEX', 400, message, { limit, max });
}

function refusal(
  code: GatewayErrorCode,
  status: number,
  message: string,
  more: Record<string, unknown> = {},
): ClientError {
  return new ClientError(code, message, { extensions: { ...more, http: { status, headers: new HeaderMap() } } });
}
