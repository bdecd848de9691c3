import type { FieldNode, GraphQLError } from 'graphql';
import { ClientError } from '../graphql/errors.ts';

/** Where a field stands in the response, with response keys and the positions in lists. */
export type Path = readonly (string | number)[];

/** How many refusals of one operation are told one by one. */
const MAX_TOLD = 100;

/** What access rules refused in one operation: a FORBIDDEN error at the path of each field, and at most one that counts more. */
export class Refusals {
  readonly #told = new Map<string, GraphQLError>();
  #more = 0;

  get size(): number {
    return this.#told.size;
  }

  add(nodes: readonly FieldNode[], path: Path, reason: string): void {
    if (this.#told.size >= MAX_TOLD) {
      this.#more += 1;
      return;
    }
    this.#told.set(JSON.stringify([path, reason]), new ClientError('FORBIDDEN', reason, { nodes, path: [...path] }));
  }

  get errors(): GraphQLError[] {
    const told = [...this.#told.values()];
    if (this.#more === 0) return told;
    return [...told, new ClientError('FORBIDDEN', `${this.#more} more fields were refused for lack of a scope.`)];
  }
}
