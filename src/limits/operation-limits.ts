import { type DocumentNode, type GraphQLSchema, Kind, type OperationDefinitionNode } from 'graphql';
import { requestError } from '../errors.ts';
import { countComparisons } from './comparisons.ts';
import { type FieldRules, type Measure, measureOperation, readFieldRules } from './measure.ts';

/** What each limit counts, for the message. The size of the body and the number of tokens are limited before. */
const COUNTED = {
  depth: 'levels of fields',
  aliases: 'aliases',
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

/** See `countComparisons`: 38,000 take 20 to 70 ms. */
const MAX_COMPARISONS = 10_000;

/** Limits that do not depend on variables: every operation of a document is checked against them before validation. */
const BEFORE_VALIDATION = ['depth', 'aliases', 'aliasLength', 'rootFields'] as const;
const ALL = [...BEFORE_VALIDATION, 'complexity', 'upstreamCalls'] as const;

/** The complexity of an ordinary operation; each further multiple of it is charged as one more operation. */
const COMPLEXITY_PER_COST = 500;

/** Measures operations and refuses those that are too large, before anything is executed. */
export class OperationLimiter {
  readonly #schema: GraphQLSchema;
  readonly #rules: FieldRules;
  readonly #limits: Record<LimitName, number>;
  /** Operations whose size does not depend on variables. */
  readonly #measured = new WeakMap<OperationDefinitionNode, Measure>();

  constructor(schema: GraphQLSchema, limits: Record<Exclude<LimitName, keyof typeof FIXED>, number>) {
    this.#schema = schema;
    this.#rules = readFieldRules(schema);
    this.#limits = { ...limits, ...FIXED };
  }

  /** Throws OPERATION_TOO_COMPLEX for a document with an operation over a limit that does not depend on variables. */
  checkDocument(document: DocumentNode): void {
    if (countComparisons(document) > MAX_COMPARISONS) {
      const extensions = { limit: 'repetitions', max: MAX_COMPARISONS };
      throw requestError(
        'OPERATION_TOO_COMPLEX',
        400,
        'The document repeats too many fields. Select each once.',
        extensions,
      );
    }
    for (const definition of document.definitions) {
      if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
      const measure = measureOperation(this.#schema, this.#rules, document, definition, {});
      this.#refuse(this.#exceeded(measure, BEFORE_VALIDATION));
    }
  }

  measure(document: DocumentNode, operation: OperationDefinitionNode, variables: object = {}): Measure {
    const known = this.#measured.get(operation);
    const measure = known ?? measureOperation(this.#schema, this.#rules, document, operation, variables);
    if (!known && !measure.varies) this.#measured.set(operation, measure);
    return measure;
  }

  /** What an operation is charged against the caller's rate, in ordinary operations. One that is refused is an ordinary one. */
  costOf(measure: Measure): number {
    return this.#exceeded(measure, ALL) ? 1 : 1 + Math.floor(measure.complexity / COMPLEXITY_PER_COST);
  }

  /** Throws OPERATION_TOO_COMPLEX for an operation that exceeds a limit. */
  check(measure: Measure): void {
    this.#refuse(this.#exceeded(measure, ALL));
  }

  #exceeded(measure: Measure, limits: readonly LimitName[]): LimitName | undefined {
    return limits.find((limit) => measure[limit] > this.#limits[limit]);
  }

  #refuse(limit: LimitName | undefined): void {
    if (!limit) return;
    const max = this.#limits[limit];
    const message = `The operation has more than ${max} ${COUNTED[limit]}. Ask for less at once.`;
    throw requestError('OPERATION_TOO_COMPLEX', 400, message, { limit, max });
  }
}
