import type { DocumentNode, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import { Kind } from 'graphql';
import type { Caller } from '../access/caller.ts';
import { requestError } from '../errors.ts';
import { certainCalls, type Measure, measureOperation } from './measure.ts';

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
  complexity: 'fields, those of lists counted for each item',
  upstreamCalls: 'calls to the referral and rewards service',
};

type LimitName = keyof typeof COUNTED;

/**
 * Tokens and complexity do not bound these: validation compares all fields of one name with each other (250 times `me { id }`
 * take 200 ms), and an alias is in the response once for each item of a list.
 */
const FIXED = { aliases: 30, aliasLength: 128, rootFields: 20 };

/** The limits that are settings. */
type Limits = Record<Exclude<LimitName, keyof typeof FIXED>, number>;

export interface Measured extends Measure {
  /** What the operation is charged against the caller's rate, in ordinary operations. */
  cost: number;
  /** The first limit that it exceeds. */
  exceeds: LimitName | undefined;
}

interface LimitsOptions {
  schema: GraphQLSchema;
  limits: Limits;
  /** Whether introspection needs no scope; otherwise it needs `schema:read`. */
  openIntrospection: boolean;
}

/** The complexity of an ordinary operation; each further multiple of it is charged as one more operation. */
const COMPLEXITY_PER_COST = 500;

const LIMITS = Object.keys(COUNTED) as LimitName[];

/** Limits that do not depend on variables: every operation of a document is checked against them before validation. */
const BEFORE_VALIDATION = LIMITS.filter((limit) => limit !== 'complexity' && limit !== 'upstreamCalls');

/** Measures operations and refuses those that are too large, before anything is executed. */
export class OperationLimiter {
  readonly #options: LimitsOptions;
  readonly #limits: Record<LimitName, number>;
  /** Operations whose size does not depend on variables. */
  readonly #measured = new WeakMap<OperationDefinitionNode, Measured>();

  constructor(options: LimitsOptions) {
    this.#options = options;
    this.#limits = { ...options.limits, ...FIXED };
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
    const known = this.#measured.get(operation);
    if (known) return known;
    const measure = measureOperation(this.#options.schema, document, operation, variables);
    const exceeds = this.#firstExceeded(measure, LIMITS);
    const cost = exceeds ? 1 : 1 + Math.floor(measure.complexity / COMPLEXITY_PER_COST);
    const measured = { ...measure, exceeds, cost };
    if (measure.variables.length === 0) this.#measured.set(operation, measured);
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
    const sizes = { ...measure, upstreamCalls: certainCalls(measure) };
    return limits.find((limit) => sizes[limit] > this.#limits[limit]);
  }

  #refuse(limit: LimitName | undefined): void {
    if (!limit) return;
    const max = this.#limits[limit];
    const message = `The operation has more than ${max} ${COUNTED[limit]}. Ask for less at once.`;
    throw requestError('OPERATION_TOO_COMPLEX', 400, message, { limit, max });
  }
}
