import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startGateway } from '../kit.ts';

/*
 * The manifests of Apollo Kotlin (operationOutput) and Apollo iOS (persisted query manifest), in one folder that the built
 * gateway enforces. The requests are those of these libraries; their toolchains are not run here.
 */

const FOLDER = fileURLToPath(new URL('manifests/', import.meta.url));
const read = (name: string) => JSON.parse(readFileSync(`${FOLDER}${name}`, 'utf8'));
const kotlin = Object.entries<{ name: string; source: string }>(read('kotlin.json')).map(([id, operation]) => ({
  id,
  name: operation.name,
  text: operation.source,
  variables: { id: 'p1' },
}));
const ios = read('ios.json').operations.map(({ id, name, body }: Record<string, string>) => ({
  id,
  name,
  text: body,
  variables: { id: 'p1', page: 3 },
}));

let gateway: Awaited<ReturnType<typeof startGateway>>;
let token: string;
beforeAll(async () => {
  gateway = await startGateway({ PERSISTED_OPERATIONS: 'enforce', PERSISTED_OPERATIONS_FILE: FOLDER });
  token = await gateway.token('--sub', 'p1', '--recipe', 'phone-app');
});
afterAll(() => gateway?.close());

async function send(body: object): Promise<{ data?: unknown; errors?: unknown }> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const response = await fetch(gateway.uri, { method: 'POST', headers, body: JSON.stringify(body) });
  return await response.json();
}

test.each([...kotlin, ...ios])('$name is run by its hash alone', async ({ id, name, text, variables }) => {
  expect(createHash('sha256').update(text).digest('hex')).toBe(id);
  const extensions = { persistedQuery: { version: 1, sha256Hash: id } };
  const response = await send({ operationName: name, variables, extensions });
  expect(response).toMatchObject({ data: { player: { __typename: 'Player', id: 'p1' } } });
  expect(response.errors).toBeUndefined();
});

test('another operation is refused', async () => {
  const { errors } = await send({ query: 'query Other { me { id } }' });
  expect(errors).toMatchObject([{ extensions: { code: 'OPERATION_NOT_ALLOWED' } }]);
});
