/*
 * The built gateway against graphql-js, over real HTTP. Operations are generated from a seed; each is sent until the
 * gateway has compiled it, then asked with several sets of variables and by several callers. What it answers must be what
 * graphql-js answers in this process with the same resolvers on the same REST service: the same data to the byte, errors
 * with the same paths and codes. A failure prints the seed; `FUZZ_SEED` and `FUZZ_SECONDS` repeat it.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { execute, parse } from 'graphql';
import { type Caller, createCaller } from '../src/access/caller.ts';
import { loadConfig } from '../src/config/config.ts';
import { SCOPES, type Scope } from '../src/config/scopes.ts';
import { Secret } from '../src/config/secret.ts';
import { createContext } from '../src/graphql/context.ts';
import { Idempotency } from '../src/graphql/idempotency.ts';
import { createMemoryKeys } from '../src/graphql/idempotency-store.ts';
import { formatResult } from '../src/graphql/response.ts';
import { createRestClient, type RestClient } from '../src/rest/client.ts';
import { createOperationRecord } from '../src/telemetry/observe.ts';
import { compile, rules, schema } from './kit/executed.ts';
import { type GeneratedOperation, generateOperations } from './kit/generate.ts';
import { type GatewayProcess, startProcess } from './kit/process.ts';
import { secretSigner, token, UNLIMITED } from './kit/tokens.ts';
import { API_KEY, type Received, type Script, SECRET_KEY, startUpstream, type Upstream } from './kit/upstream.ts';

const SECONDS = Number(process.env['FUZZ_SECONDS'] ?? (process.env['TEST_TIER'] === 'long' ? 60 : 20));
const SEED = Number(process.env['FUZZ_SEED'] ?? Math.floor(Date.now() / 86_400_000));

/** How often the gateway is asked for an operation before it compiles it. */
const COMPILE_AFTER = 50;

const cursor = (text: string) => Buffer.from(text).toString('base64url');
const IDS = ['p1', 'p2', 'unknown', 'refused', 'no-json', 'no-friends', 'no-coupons', '..', 'a\u0000b', ''];
const vocabulary = {
  values: {
    ID: IDS,
    Int: [1, 2, 3, 5, 200, 0, -1, 201],
    String: ['welcome', 'nobody', cursor('[1,"f2",60]'), cursor('[4,null]'), 'no cursor'],
    Boolean: [true, false],
    LanguageCode: ['en', 'pt-BR'],
  },
  wrong: {
    ID: [1.5, true, {}],
    Int: [2 ** 31, 1.5, '1', true],
    String: [1, false, ['x']],
    Boolean: ['true', 0],
    LanguageCode: ['!', 1, ''],
    CouponType: ['NONE', 1, 'free_shipping'],
  },
};

const signer = secretSigner();
const scoped = (sub: string, ...scopes: Scope[]): Caller => createCaller(sub, scopes, true);
/** The first one may send what was not seen before as often as this test does. */
const CALLERS = [
  scoped('p1', ...SCOPES),
  scoped('p1', ...SCOPES.filter((scope) => scope !== 'any-player')),
  scoped('p2', 'players:read', 'referrals:read', 'any-player'),
  scoped('refused', 'players:read', 'coupons:read'),
];
const tokens = new Map(
  CALLERS.map((caller) => [caller, token(signer, { sub: caller.sub, scope: [...caller.scopes].join(' ') })]),
);

let upstream: Upstream;
let gateway: GatewayProcess;
let rest: RestClient;

beforeAll(async () => {
  upstream = await startUpstream({ friends: 7 });
  // An answer depends on the player alone. None of them counts as the service being unavailable, or the breaker would open.
  const by =
    (failing: string): Script =>
    ({ playerUniqueId: id }: Received) => {
      if (id === 'refused' || id === failing) return { status: 400, json: { code: 4, message: 'refused' } };
      if (id === 'no-json') return { raw: '<html>' };
      return 'usual';
    };
  upstream.on('GET /player', by(''));
  upstream.on('GET /coupon', by('no-coupons'));
  upstream.on('GET /referrals', by('no-friends'));
  gateway = await startProcess({
    ...signer.env,
    ...UNLIMITED,
    NODE_ENV: 'production',
    REST_BASE_URL: upstream.url,
  });
  rest = createRestClient({
    ...loadConfig({}).rest,
    baseUrl: upstream.url,
    apiKey: new Secret(API_KEY),
    secretKey: new Secret(SECRET_KEY),
  });
}, 30_000);

afterAll(async () => {
  await rest.close();
  await gateway.kill();
  await upstream.close();
});

/** What both sides are compared by. */
interface Answer {
  data: string | undefined;
  /** Paths and codes, sorted; undefined when nothing was executed. */
  errors: string[] | undefined;
}

interface Response {
  data?: unknown;
  errors?: readonly { path?: readonly (string | number)[]; extensions?: Record<string, unknown> }[];
}

function comparable({ data, errors = [] }: Response): Answer {
  if (data === undefined) return { data: undefined, errors: undefined };
  const named = errors.map(({ path, extensions }) => `${JSON.stringify(path)} ${String(extensions?.['code'])}`);
  return { data: JSON.stringify(data), errors: named.sort() };
}

async function ask({ source, variables }: GeneratedOperation, caller: Caller): Promise<Response> {
  const response = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${tokens.get(caller)}` },
    body: JSON.stringify({ query: source, variables }),
  });
  return JSON.parse(await response.text());
}

/** By graphql-js in this process. */
async function expected({ source, variables }: GeneratedOperation, caller: Caller): Promise<Response> {
  const operation = {
    caller,
    known: undefined,
    record: createOperationRecord(),
    requestId: 'oracle',
    signal: new AbortController().signal,
    deadline: performance.now() + 10_000,
  };
  const rates = {
    consume: async () => undefined,
    giveBack: async () => undefined,
  };
  const idempotency = new Idempotency(createMemoryKeys(), rates);
  const options = { rest, rules, rates, idempotency, maxUpstreamCalls: 100, onBatch: () => undefined };
  const contextValue = createContext(options, operation);
  const result = await execute({ schema, document: parse(source), variableValues: variables, contextValue });
  if (result.data === undefined) return {};
  return JSON.parse(JSON.stringify(formatResult(result, contextValue, () => undefined)));
}

/** Further variables for an operation: every value takes another one of its kind. */
function otherVariables({ source, variables }: GeneratedOperation, shift: number): GeneratedOperation {
  const pools: readonly (readonly unknown[])[] = [Object.values(vocabulary.values.Int), vocabulary.values.Boolean, IDS];
  const other = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(other);
    const pool = pools.find((one) => one.includes(value));
    return pool ? pool[(pool.indexOf(value) + shift) % pool.length] : value;
  };
  return { source, variables: Object.fromEntries(Object.entries(variables).map(([k, v]) => [k, other(v)])) };
}

const NOT_EXECUTED = new Set(['OPERATION_TOO_COMPLEX', 'FORBIDDEN']);

test(
  `what is compiled answers as graphql-js does, seed ${SEED}`,
  async () => {
    const until = performance.now() + SECONDS * 1_000;
    const seen = { operations: 0, compiled: 0, compared: 0, withErrors: 0, refused: 0 };
    for (const operation of generateOperations({ schema, vocabulary, seed: SEED })) {
      if (performance.now() > until) break;
      const isCompiled = compile(operation.source) !== undefined;
      // What is never compiled is compared too, now and then.
      if (!isCompiled && seen.operations % 8 !== 0) {
        seen.operations += 1;
        continue;
      }
      seen.operations += 1;
      if (isCompiled) {
        seen.compiled += 1;
        const [first = CALLERS[0]] = CALLERS;
        if (first) await Promise.all(Array.from({ length: COMPILE_AFTER }, () => ask(operation, first)));
      }
      for (const [index, caller] of CALLERS.entries()) {
        const variants = [operation, otherVariables(operation, 1 + index), otherVariables(operation, 4 + index)];
        for (const variant of variants) {
          const [answer, oracle] = await Promise.all([ask(variant, caller), expected(variant, caller)]);
          const code = String(answer.errors?.[0]?.extensions?.['code']);
          if (answer.data === undefined && NOT_EXECUTED.has(code)) {
            seen.refused += 1;
            continue;
          }
          seen.compared += 1;
          if (answer.errors) seen.withErrors += 1;
          const about = { seed: SEED, caller: index, ...variant };
          expect({ ...about, ...comparable(answer) }).toEqual({ ...about, ...comparable(oracle) });
        }
      }
    }
    process.stdout.write(`differential: ${JSON.stringify(seen)}\n`);
    expect(seen.compiled).toBeGreaterThan(SECONDS / 10);
    expect(seen.withErrors).toBeGreaterThan(0);
  },
  SECONDS * 1_000 + 60_000,
);
