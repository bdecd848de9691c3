import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { player, startWithCallers } from '../kit/callers.ts';

/* Any JSON value, at any depth, in each member of a request: a refusal or data, never an error of the gateway's own. */

const MEMBERS = ['query', 'operationName', 'variables', 'extensions', 'documentId', 'id', 'doc_id', 'persistedQuery'];
const GOOD = '{ me { id } }';
const SEED = Number(process.env['PROPERTY_SEED'] ?? 20_261);

/** The fast tests send a quarter of what the long ones do. */
const RUNS = process.env['TEST_TIER'] === 'long' ? 400 : 100;

const all = await startWithCallers({ NODE_ENV: 'production' });
const nested = (levels: number, leaf: unknown): unknown => (levels === 0 ? leaf : [nested(levels - 1, leaf)]);
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc
    .tuple(fc.integer({ min: 1, max: 1_000 }), fc.jsonValue({ maxDepth: 1 }))
    .map(([levels, leaf]) => nested(levels, leaf)),
  fc.constant(GOOD),
);
const anything = fc.dictionary(fc.constantFrom(...MEMBERS), value, { maxKeys: 4 });
const request = fc.oneof(
  anything,
  anything.map((members) => ({ query: GOOD, ...members })),
);

let sent = 0;
async function codesOf(path: string, init: RequestInit): Promise<{ status: number; codes: unknown[] }> {
  sent += 1;
  // A caller may send some hundred new documents.
  const { authorization = '' } = player(`p${Math.floor(sent / 100)}`, 'any-player');
  const headers = { authorization, 'apollo-require-preflight': 'true', ...init.headers };
  const response = await fetch(`${all.gateway.url}/graphql${path}`, { ...init, headers });
  const { errors = [] } = JSON.parse(await response.text());
  return {
    status: response.status,
    codes: errors.map((error: { extensions: { code: string } }) => error.extensions.code),
  };
}

function expectRefusalOrData({ status, codes }: { status: number; codes: unknown[] }): void {
  expect(status).toBeLessThan(500);
  expect(codes).not.toContain('INTERNAL_SERVER_ERROR');
  expect(codes).not.toContain('RATE_LIMITED');
}

test(`members of a body, seed ${SEED}`, async () => {
  const send = async (body: unknown) =>
    expectRefusalOrData(
      await codesOf('', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    );
  await fc.assert(fc.asyncProperty(request, send), { seed: SEED, numRuns: RUNS });
});

test(`parameters of a GET, seed ${SEED}`, async () => {
  const send = async (members: object) => {
    const parameters = Object.entries(members).map(([name, one]) => [
      name,
      typeof one === 'string' ? one : JSON.stringify(one),
    ]);
    expectRefusalOrData(await codesOf(`?${new URLSearchParams(parameters)}`, {}));
  };
  await fc.assert(fc.asyncProperty(request, send), { seed: SEED, numRuns: RUNS });
});

test('no error was logged', () => expect(all.gateway.logged()).not.toContain('"level":50'));
