import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import * as z from 'zod';

const media = z.object({ content: z.object({ 'application/json': z.unknown() }).optional() });

/** What of the OpenAPI document this suite reads; schemas are left to the validator. */
const DOCUMENT = z.object({
  paths: z.record(z.string(), z.record(z.string(), z.unknown())),
});
const OPERATION = z.object({
  operationId: z.string(),
  requestBody: media.optional(),
  responses: z.record(z.string(), z.union([media, z.object({ $ref: z.string() })])),
});

const source: unknown = parse(readFileSync(new URL('../../schema/rest-service.openapi.yaml', import.meta.url), 'utf8'));
const { paths } = DOCUMENT.parse(source);

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ ...z.record(z.string(), z.unknown()).parse(source), $id: 'contract' });

/** An operation of the document, with where its parts stand in it. */
interface Operation {
  id: string;
  method: string;
  path: string;
  /** Pointers to the schemas of what is sent and answered; undefined where the document has no JSON body. */
  request: string | undefined;
  answer: string | undefined;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** All operations of the document. */
export const OPERATIONS: Operation[] = Object.entries(paths).flatMap(([path, item]) =>
  METHODS.filter((method) => method in item).map((method) => {
    const operation = OPERATION.parse(item[method]);
    const at = `contract#/paths/${path.replaceAll('~', '~0').replaceAll('/', '~1')}/${method}`;
    const json = 'content/application~1json/schema';
    const success = operation.responses['200'];
    return {
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      request: operation.requestBody && `${at}/requestBody/${json}`,
      answer: success && 'content' in success && success.content ? `${at}/responses/200/${json}` : undefined,
    };
  }),
);

export const ERROR = 'contract#/components/schemas/Error';

/** What is wrong with a value by a schema of the document; empty when nothing is. */
export function violations(pointer: string, value: unknown): string[] {
  const validate = ajv.getSchema(encodeURI(pointer)) ?? ajv.getSchema(pointer);
  if (!validate) throw new Error(`The document has no ${pointer}`);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || 'the body'} ${message}`);
}
