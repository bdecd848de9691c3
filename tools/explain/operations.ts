import { readFileSync } from 'node:fs';
import {
  type DocumentNode,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  parse,
  separateOperations,
} from 'graphql';
import { reasonOf } from '../../src/errors.ts';
import { readOperations } from '../../src/persisted-operations/manifest.ts';

/** One operation of a file, with the fragments that it uses. */
export interface FileOperation {
  /** The file, and in a manifest the id. */
  from: string;
  document: DocumentNode;
  operation: OperationDefinitionNode;
  /** The values in the JSON file beside a document: `screen.json` for `screen.graphql`. */
  variables: Record<string, unknown> | undefined;
}

/**
 * The operations of a document (`*.graphql`) or of a manifest (`*.json`) of any toolchain. Throws, with the name of the file,
 * for what it cannot read.
 */
export function readFileOperations(file: string): FileOperation[] {
  try {
    if (!file.endsWith('.json')) return operationsIn(file, readFileSync(file, 'utf8'), readVariables(file));
    return readOperations(file).flatMap(({ id, text }) => operationsIn(`${file}: "${id}"`, text, undefined));
  } catch (error) {
    throw new Error(`${file}: ${reasonOf(error)}`);
  }
}

function operationsIn(from: string, text: string, variables: FileOperation['variables']): FileOperation[] {
  const parsed = parse(text);
  const names = parsed.definitions.flatMap((part) =>
    part.kind === Kind.OPERATION_DEFINITION ? [part.name?.value ?? ''] : [],
  );
  const separated = separateOperations(parsed);
  return names.flatMap((name) => {
    const document = separated[name];
    const operation = document && getOperationAST(document);
    return operation ? [{ from, document, operation, variables }] : [];
  });
}

function readVariables(file: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(readFileSync(file.replace(/\.\w+$/, '.json'), 'utf8'));
  } catch {
    return undefined;
  }
}
