import type { DocumentNode, OperationDefinitionNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { CompiledOperation } from './jit.ts';

/** An operation that was parsed, validated and compiled: what is left to do for it differs from request to request. */
export interface Prepared {
  document: DocumentNode;
  operation: OperationDefinitionNode;
  compiled: CompiledOperation;
}

export interface PreparedOperations {
  get(text: string, operationName: string | undefined): Prepared | undefined;
  /** Whether an operation of this text would be kept and is not there yet. */
  lacks(text: string, operationName: string | undefined): boolean;
  set(text: string, operationName: string | undefined, prepared: Prepared): void;
}

/** How many operations are kept; the one that was not asked for longest goes first. */
const MAX_OPERATIONS = 1_000;
/** And how much they weigh together; some 60 MB. */
const MAX_SIZE = 200_000;
/** Longer texts are not kept: an application's operations are shorter, and the texts themselves take room. */
const MAX_TEXT_LENGTH = 16_384;

/** Prepared operations by the very text they were asked for with. */
export function createPreparedOperations(): PreparedOperations {
  const byText = new LRUCache<string, Prepared>({
    max: MAX_OPERATIONS,
    maxSize: MAX_SIZE,
    sizeCalculation: ({ compiled: { size } }) => size,
  });
  // A name is whatever a client says it is: by its length no part of a text can pass for one.
  const keyOf = (text: string, name: string | undefined) => `${name?.length ?? ''}:${name ?? ''}${text}`;
  return {
    get: (text, name) => byText.get(keyOf(text, name)),
    lacks: (text, name) => text.length <= MAX_TEXT_LENGTH && !byText.has(keyOf(text, name)),
    set(text, name, prepared) {
      if (text.length <= MAX_TEXT_LENGTH) byText.set(keyOf(text, name), prepared);
    },
  };
}
