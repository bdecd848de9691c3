import { buildSchema, executeSync, type GraphQLError, type GraphQLSchema, parse, validate } from 'graphql';
import type { Document } from './client.ts';
import type { GatewayResponse, ResponseError } from './errors.ts';
import { testMode } from './retry.ts';
import schemaText from './schema-text.js';
import { gatewayError, rootOf, type State } from './testing-data.ts';

// Who imports this tests screens: no pause of a client lasts, and persisted documents are sent with their text.
testMode.on = true;

/** A response of the gateway. */
export interface StateResponse<Data> {
  readonly status: number;
  /** Any page may read it, as a browser's tests need. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: GatewayResponse<Data>;
  /** How long the gateway takes for it, in milliseconds; 0 but for a service that hangs. Waiting is up to the test. */
  readonly delayMs: number;
}

const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'access-control-allow-origin': '*',
};
const EXTENSIONS = { requestId: 'request-of-a-test' };
const RETRY_AFTER_MS = 1_000;
const REST_TIMEOUT_MS = 3_000;

let schema: GraphQLSchema | undefined;

/**
 * What the gateway responds to a document when a player is in a state: valid for the schema, with every field that the
 * document selects. Any player of the document's variables is in this state.
 * The section "Tests" of the README has it with MSW and Playwright.
 *
 * @param document With a single operation: a text, or a typed document, whose types the response has.
 * Throws an Error for a document that the schema does not allow.
 */
export function respond<Data = Record<string, unknown>, Variables = Record<string, unknown>>(
  state: State,
  document: Document<Data, Variables>,
  variables?: Variables & {},
): StateResponse<Data> {
  if (state === 'expired-token') {
    const error = gatewayError('UNAUTHENTICATED', 'The token has expired.');
    return refusal(401, { 'www-authenticate': 'Bearer error="invalid_token"' }, error);
  }
  if (state === 'rate-limited') {
    const extensions = { retryable: true, retryAfterMs: RETRY_AFTER_MS };
    const error = gatewayError('RATE_LIMITED', 'Too many operations in a short time. Try again later.', extensions);
    return refusal(429, { 'retry-after': String(RETRY_AFTER_MS / 1_000) }, error);
  }
  schema ??= buildSchema(schemaText);
  const operation = parse(String(document));
  const [invalid] = validate(schema, operation);
  if (invalid) throw invalid;
  const { data, errors } = executeSync({
    schema,
    document: operation,
    rootValue: rootOf(state),
    variableValues: { ...variables },
  });
  const isMutation = operation.definitions.some((part) => 'operation' in part && part.operation === 'mutation');
  const found = errors?.map((error) => (isMutation ? belowWrite(formatted(error)) : formatted(error))) ?? [];
  const refused = found.find(({ extensions }) => extensions?.['code'] === undefined);
  if (refused) throw new Error(refused.message);
  const isSlow = found.some(({ extensions }) => extensions?.['code'] === 'UPSTREAM_TIMEOUT');
  // graphql-js made it from the document and the schema: this is where the document's types are true.
  const body = { data: data as Data, ...(found.length > 0 && { errors: found }), extensions: EXTENSIONS };
  return { status: 200, headers: HEADERS, body, delayMs: isSlow ? REST_TIMEOUT_MS : 0 };
}

/** A response without data. */
function refusal(status: number, headers: object, { message, extensions }: ReturnType<typeof gatewayError>) {
  const body = { errors: [{ message, extensions }], extensions: EXTENSIONS };
  return { status, headers: { ...HEADERS, ...headers }, body, delayMs: 0 };
}

/** Not `toJSON`, which graphql 15 does not have. */
function formatted({ message, locations, path, extensions }: GraphQLError): ResponseError {
  return { message, ...(locations && { locations }), ...(path && { path }), extensions };
}

/** An error below a mutation field whose write was done: its `outcome` is DONE, and it must not be sent again. */
function belowWrite(error: ResponseError): ResponseError {
  const { extensions = {}, path = [] } = error;
  if (path.length < 2 || 'outcome' in extensions) return error;
  const retryable = 'retryable' in extensions && { retryable: false };
  return { ...error, extensions: { ...extensions, ...retryable, outcome: 'DONE' } };
}

export { STATES, type State } from './testing-data.ts';
