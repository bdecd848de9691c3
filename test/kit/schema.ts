import { createSchema } from '../../src/graphql/schema.ts';
import { readExamples } from '../../src/http/pages.ts';

export const SCHEMA_DIRECTORY = new URL('../../schema/', import.meta.url);

export const { schema, rules } = createSchema(SCHEMA_DIRECTORY);

/** The operations of `schema/operations/`. */
export const examples = readExamples(SCHEMA_DIRECTORY);
