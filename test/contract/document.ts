import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';

const source = parse(readFileSync(new URL('../../schema/rest-service.openapi.yaml', import.meta.url), 'utf8'));
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ ...source, $id: 'contract' });

/** An operation of the document, with pointers to the schemas of what is sent and returned, if it has a JSON body. */
interface Operation {
  method: string;
  path: string;
  request: string | undefined;
  response: string | undefined;
}

/** All operations of the document, by their ids. */
export const OPERATIONS = new Map<string, Operation>();
for (const [path, methods] of Object.entries<object>(source.paths)) {
  for (const [method, { operationId, requestBody, responses }] of Object.entries(methods)) {
    if (operationId === undefined) continue;
    const at = `contract#/paths/${path.replaceAll('~', '~0').replaceAll('/', '~1')}/${method}`;
    const json = 'content/application~1json/schema';
    const request = requestBody && `${at}/requestBody/${json}`;
    const response = responses['200']?.content && `${at}/responses/200/${json}`;
    OPERATIONS.set(operationId, { method: method.toUpperCase(), path, request, response });
  }
}

/** What is wrong with a value by a schema of the document; empty when nothing is. */
export function violations(pointer: string, value: unknown): string[] {
  const validate = ajv.getSchema(encodeURI(pointer)) ?? ajv.getSchema(pointer);
  if (!validate) throw new Error(`The document has no ${pointer}`);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || 'the body'} ${message}`);
}
