import { createSchema } from '../../src/graphql/schema.ts';
import { readExamples } from '../../src/http/ide/pages.ts';

export const SCHEMA_DIRECTORY = new URL('../../schema/', import.meta.url);

/** The schema with its resolvers and access rules, as the gateway has it. */
export const { schema, rules } = createSchema(SCHEMA_DIRECTORY);

/** The operations of `schema/operations/`. */
export const examples = readExamples(SCHEMA_DIRECTORY);
