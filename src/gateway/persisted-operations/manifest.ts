import { readFileSync } from 'node:fs';
import { type GraphQLSchema, parse, validate } from 'graphql';
import * as z from 'zod';
import { ConfigError } from '../../config/environment.ts';
import { onFileChange } from '../../config/file-change.ts';

/** The listed operations. */
export interface Manifest {
  /** The text of an operation, by its id. */
  textOf(id: string): string | undefined;
  /** Every text. */
  readonly texts: ReadonlySet<string>;
  /** Whether a text is exactly one of them. */
  lists(text: string): boolean;
}

/** The schema and the limit that the operations of a manifest are checked against. */
export interface ManifestCheck {
  schema: GraphQLSchema;
  maxTokens: number;
}

/** How many mistakes of a manifest are reported at once. */
const MAX_TOLD = 20;

/** The format of Apollo's `generate-persisted-query-manifest` and of Apollo Kotlin. Other members are ignored. */
const FILE = z.object({
  format: z.literal('apollo-persisted-query-manifest', 'must be "apollo-persisted-query-manifest"'),
  version: z.literal(1, 'must be 1'),
  operations: z.array(
    z.object({
      id: z.string().min(1).max(256),
      body: z.string().min(1),
      name: z.string(),
      type: z.enum(['query', 'mutation', 'subscription']),
    }),
  ),
});

type PersistedOperation = z.output<typeof FILE>['operations'][number];

/** Reads a manifest. Throws a ConfigError that names what is wrong: the file, a duplicate id, an invalid operation. */
export function readManifest(path: string, check: ManifestCheck): Manifest {
  const parsed = FILE.safeParse(readJson(path));
  if (!parsed.success) {
    throw unusable(
      path,
      parsed.error.issues.map(({ path: at, message }) => `${at.join('.') || 'the file'}: ${message}`),
    );
  }
  const texts = new Map<string, string>();
  const problems: string[] = [];
  parsed.data.operations.forEach((operation, index) => {
    const problem = texts.has(operation.id) ? 'its id is repeated' : problemOf(operation, check);
    if (problem) problems.push(`operations.${index} ("${operation.name}", id ${operation.id}): ${problem}`);
    texts.set(operation.id, operation.body);
  });
  if (problems.length > 0) throw unusable(path, problems);
  const listed = new Set(texts.values());
  return { texts: listed, textOf: (id) => texts.get(id), lists: (text) => listed.has(text) };
}

/**
 * Reads `PERSISTED_OPERATIONS_FILE`, and again when it changes. Throws when it cannot be used now; when a later version cannot
 * be used, the earlier one stays in force and `warn` is called.
 */
export function watchManifest(path: string, check: ManifestCheck, warn: (message: string) => void): () => Manifest {
  onFileChange(path, () => {
    try {
      manifest = readManifest(path, check);
    } catch (error) {
      warn(`the earlier persisted operations stay in force: ${error instanceof Error ? error.message : String(error)}`);
    }
  });
  let manifest = readManifest(path, check);
  return () => manifest;
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw unusable(path, [`it cannot be read as JSON (${error instanceof Error ? error.message : String(error)})`]);
  }
}

/** Why an operation could never run. */
function problemOf({ body }: PersistedOperation, { schema, maxTokens }: ManifestCheck): string | undefined {
  try {
    const [error] = validate(schema, parse(body, { maxTokens }), undefined, { maxErrors: 1 });
    return error?.message;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function unusable(path: string, problems: readonly string[]): ConfigError {
  const more = problems.length - MAX_TOLD;
  return new ConfigError([
    ...problems.slice(0, MAX_TOLD).map((problem) => `PERSISTED_OPERATIONS_FILE: ${path}: ${problem}`),
    ...(more > 0 ? [`PERSISTED_OPERATIONS_FILE: ${path}: and ${more} more`] : []),
  ]);
}
