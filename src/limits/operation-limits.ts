import type { DocumentNode, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import { Kind } from 'graphql';
import type { Caller } from '../access/caller.ts';
import { requestError } from '../graphql/errors.ts';
import { MemoizeLast } from '../graphql/selection.ts';
import { type Measure, measureOperation } from './measure.ts';

/**
 * The limits of an operation, and what each of them counts, for the message to developers. The size of the body and the
 * number of tokens are limited before.
 */
const COUNTED = {
  depth: 'levels of fields',
  aliases: 'aliases',
  // An alias is in the response once for each member of a list.
  aliasLength: 'characters in one alias',
  rootFields: 'root fields',
  directives: 'directives',
  complexity: 'fields, those of lists counted for each member',
};

type LimitName = keyof typeof COUNTED;

export interface Measured extends Measure {
  /** What the operation is charged against the caller's rate, in ordinary operations. */
  cost: number;
  /** The first limit that it exceeds. */
  exceeds: LimitName | undefined;
}

interface LimitsOptions {
  schema: GraphQLSchema;
  limits: Record<LimitName, number>;
  /** Whether introspection needs no scope; otherwise it needs `schema:read`. */
  openIntrospection: boolean;
}

/** The complexity of an ordinary operation; each further multiple of it is charged as one more operation. */
const COMPLEXITY_PER_COST = 500;

const LIMITS = Object.keys(COUNTED) as LimitName[];

/** Limits that do not depend on variables: every operation of a document is checked against them before validation. */
const BEFORE_VALIDATION = LIMITS.filter((limit) => limit !== 'complexity');

/** Measures operations and refuses those that are too large, before anything is executed. */
export class OperationLimiter {
  readonly #options: LimitsOptions;
  /** The size depends only on the variables that determine the lengths of lists. */
  readonly #last = new MemoizeLast<OperationDefinitionNode, Measured>();

  constructor(options: LimitsOptions) {
    this.#options = options;
  }

  /** Throws OPERATION_TOO_COMPLEX for a document with an operation over a limit that does not depend on variables. */
  checkDocument(document: DocumentNode): void {
    for (const definition of document.definitions) {
      if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
      const measure = measureOperation(this.#options.schema, document, definition, {});
      this.#refuse(this.#firstExceeded(measure, BEFORE_VALIDATION));
    }
  }

  measure(
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Readonly<Record<string, unknown>> = {},
  ): Measured {
    const last = this.#last.get(operation, variables);
    if (last) return last;
    const measure = measureOperation(this.#options.schema, document, operation, variables);
    const exceeds = this.#firstExceeded(measure, LIMITS);
    const cost = exceeds ? 1 : 1 + Math.floor(measure.complexity / COMPLEXITY_PER_COST);
    const measured = { ...measure, exceeds, cost };
    this.#last.set(operation, measure.variables, variables, measured);
    return measured;
  }

  /** Throws OPERATION_TOO_COMPLEX for an operation that exceeds a limit, and FORBIDDEN for introspection without its scope. */
  check({ introspects, exceeds }: Measured, caller: Caller): void {
    if (introspects && !this.#options.openIntrospection && !caller.scopes.has('schema:read')) {
      throw requestError('FORBIDDEN', 403, 'Introspection needs the scope "schema:read".');
    }
    this.#refuse(exceeds);
  }

  #firstExceeded(measure: Measure, limits: readonly LimitName[]): LimitName | undefined {
    return limits.find((limit) => measure[limit] > this.#options.limits[limit]);
  }

  #refuse(limit: LimitName | undefined): void {
    if (!limit) return;
    const max = this.#options.limits[limit];
    const message = `The operation has more than ${max} ${COUNTED[limit]}. Ask for less at once.`;
    throw requestError('OPERATION_TOO_COMPLEX', 400, message, { limit, max });
  }
}
