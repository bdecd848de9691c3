import type { Queries, Store } from '../src/store/store.ts';

export interface Statement {
  sql: string;
  parameters: unknown[];
}

export function statementsOf(store: Store, work: (queries: Queries) => Promise<unknown>): Promise<Statement[]>;
export function plansOf(path: string, statements: readonly Statement[]): string[];
