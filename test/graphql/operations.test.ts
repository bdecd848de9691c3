import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isObjectType, parse, validate } from 'graphql';
import type { Example } from '../../src/http/ide/pages.ts';
import { coordinatesIn, coordinatesOf, fieldsWithValues, selectionsWithoutId } from '../kit/coordinates.ts';
import { startDemo } from '../kit/demo.ts';
import { startBoth, type TestGateway } from '../kit/gateway.ts';
import { examples, SCHEMA_DIRECTORY, schema } from '../kit/schema.ts';

test.each(examples)(
  '$name is one valid operation with its name, a comment first, and the ids that caches need',
  ({ name, document }) => {
    const parsed = parse(document);
    const names = parsed.definitions.flatMap((part) => (part.kind === 'OperationDefinition' ? part.name?.value : []));
    expect(names).toEqual([
      name.replace(/^\d+/, '').replace(/-(\w)/g, (_match, letter: string) => letter.toUpperCase()),
    ]);
    expect(validate(schema, parsed)).toEqual([]);
    expect(document).toMatch(/^# [A-Z]/);
    expect(selectionsWithoutId(schema, document)).toEqual([]);
  },
);

test('the examples have, together, every field, argument and input field of the schema', () => {
  const used = examples.flatMap(({ document, variables }) => coordinatesIn(schema, document, variablesOf(variables)));
  expect(coordinatesOf(schema).filter((coordinate) => !new Set(used).has(coordinate))).toEqual([]);
});

test('the first example, which the Sandbox shows, needs no variables', () => {
  expect(examples[0]).toMatchObject({ name: '01-mobile-screen', variables: undefined });
});

describe('an example run against the scripted service', () => {
  let both: Awaited<ReturnType<typeof startBoth>>;
  beforeAll(async () => {
    both = await startBoth();
    await both.gateway.query('mutation { upsertPlayer(input: { playerUniqueId: "demo-player" }) { serviceId } }');
  });
  afterAll(() => both.close());

  const COUPONS = 'transactions/demo-player/coupon';
  test.each([
    ['01-mobile-screen', 'player/demo-player', 'players/demo-player/referrals?page=1&limit=3', COUPONS],
    ['06-coupon-filters', COUPONS],
  ])('%s causes the calls %s, %s, %s', async (name, ...paths) => {
    both.upstream.forget();
    await expectSuccess(both.gateway, exampleNamed(name));
    expect(both.upstream.calls().sort()).toEqual(paths.map((path) => `GET /integrations/${path}`));
  });
});

describe('an example run against the reference service and its demo player', () => {
  let demo: Awaited<ReturnType<typeof startDemo>>;
  const shown = new Set<string>();
  beforeAll(async () => {
    demo = await startDemo();
  });
  afterAll(() => demo.close());

  // In their order: what one of them writes, a later one deletes. With UPDATE_RESPONSES=1 the files are written.
  test.each(examples)('$name has no errors, and the response that docs/schema.md shows', async (example) => {
    const data = await expectSuccess(demo.gateway, example);
    const file = new URL(`operations/responses/${example.name}.json`, SCHEMA_DIRECTORY);
    if (existsSync(file)) {
      const text = JSON.stringify({ data }, null, 2).replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:4100');
      if (process.env['UPDATE_RESPONSES']) writeFileSync(file, `${text}\n`);
      expect(withoutRandom(text)).toEqual(withoutRandom(readFileSync(file, 'utf8')));
    }
    for (const field of fieldsWithValues(schema, example.document, data)) shown.add(field);
  });

  test('so that a newcomer sees a value of every field of the schema, but those about mistakes', () => {
    const outputs = coordinatesOf(schema).filter((coordinate) => {
      const [type = '', field] = coordinate.split('.');
      return isObjectType(schema.getType(type)) && type !== 'UserError' && !field?.includes('(');
    });
    expect(outputs.filter((field) => !shown.has(field))).toEqual([]);
  });

  test('the second page of 08-friends-connection is reached with the cursor of the first', async () => {
    const { document } = exampleNamed('08-friends-connection');
    const page = async (after?: string) => {
      const { data } = await demo.gateway.query(document, { after, first: 40 });
      return data.player.referredFriendsConnection;
    };
    const first = await page();
    const second = await page(first.pageInfo.endCursor);
    expect([first.pageInfo.hasNextPage, second.pageInfo.hasNextPage]).toEqual([true, false]);
    const friends = [...first.nodes, ...second.nodes].map(({ playerUniqueId }) => playerUniqueId);
    expect(new Set(friends).size).toBe(60);
  });
});

function exampleNamed(name: string): Example {
  const found = examples.find((one) => one.name === name);
  if (!found) throw new Error(`schema/operations/ has no ${name}.graphql`);
  return found;
}

/** Runs an example; gives its data, which holds a value at its root and nothing to mend. */
async function expectSuccess(gateway: TestGateway, { document, variables }: Example): Promise<unknown> {
  const { status, errors, data } = await gateway.query(document, variablesOf(variables));
  expect({ status, errors }).toEqual({ status: 200, errors: [] });
  const [root] = Object.values<{ userErrors?: unknown[] } | null>(data);
  expect(root).not.toBeNull();
  expect(root?.userErrors ?? []).toEqual([]);
  return data;
}

function variablesOf(json = '{}'): Record<string, unknown> {
  return JSON.parse(json);
}

/** A response without what each start of the demo makes anew: codes, ids made of them, links, moments. */
function withoutRandom(json: string): unknown {
  const random = /^(?:[0-9A-Z]{12}|[\w-]{40,}|[\da-f-]{36}|http.*\/r\/.*|\d{4}-\d\d-\d\dT.*)$/;
  return JSON.parse(json, (_name, value) => (random.test(value) ? 'made anew' : value));
}
