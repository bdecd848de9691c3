/* examples/bruno/: the example operations as a collection for Bruno, a client for APIs whose collections are files. */
import { Kind, parse } from 'graphql';
import type { Example } from '../../src/http/pages.ts';

const FOLDER = 'examples/bruno';

export function brunoCollection(examples: readonly Example[]): Record<string, string> {
  const requests = examples.map((example, index) => [`${FOLDER}/${example.name}.bru`, requestOf(example, index + 1)]);
  return {
    [`${FOLDER}/bruno.json`]: `${JSON.stringify({ version: '1', name: 'Referral gateway', type: 'collection' }, null, 2)}\n`,
    [`${FOLDER}/environments/demo.bru`]: 'vars {\n  url: http://127.0.0.1:4000/graphql\n  token: none\n}\n',
    ...Object.fromEntries(requests),
  };
}

function requestOf({ document, variables }: Example, number: number): string {
  const operation = parse(document).definitions.find((part) => part.kind === Kind.OPERATION_DEFINITION);
  const blocks = [
    `meta {\n  name: ${operation?.name?.value}\n  type: graphql\n  seq: ${number}\n}`,
    'post {\n  url: {{url}}\n  body: graphql\n  auth: bearer\n}',
    'auth:bearer {\n  token: {{token}}\n}',
    `body:graphql {\n${indented(document)}\n}`,
    ...(variables ? [`body:graphql:vars {\n${indented(variables)}\n}`] : []),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ');
}
