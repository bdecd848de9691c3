import type { GatewayErrorCode } from './generated/codes.ts';

const OUTCOMES = ['NOT_DONE', 'UNKNOWN', 'DONE'] as const;
/** What became of a write: it was not carried out, nobody knows, or it was carried out. */
export type Outcome = (typeof OUTCOMES)[number];

/** Names of fields, and indexes in lists. */
export type Path = readonly (string | number)[];

/** An error as it is in a response. Every client library has objects of this shape. */
export interface ResponseError {
  readonly message: string;
  readonly path?: Path | undefined;
  readonly extensions?: { [name: string]: unknown };
}

/** What the gateway responds, in JSON. */
export interface GatewayResponse<Data = Record<string, unknown>> {
  readonly data?: Data | null;
  readonly errors?: readonly ResponseError[];
  /** `requestId` names the request in the gateway's log. */
  readonly extensions?: { readonly [name: string]: unknown };
}

/** An error of the gateway or of this client. `message` is a sentence for developers, not for users. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  /** A `GatewayErrorCode`; newer gateways may have others. */
  readonly code: GatewayErrorCode | (string & {});
  /** Whether sending the same operation again is safe and can help. */
  readonly retryable: boolean;
  /** The shortest time to wait before that, in milliseconds; undefined: the client chooses. */
  readonly retryAfterMs: number | undefined;
  /** Of writes. `UNKNOWN`: with `retryable` send the event with the same key again, else read the player. `DONE`: it worked. */
  readonly outcome: Outcome | undefined;
  /** The field in `data` that is null because of this error; undefined for an error of the whole operation. */
  readonly path: Path | undefined;
  /** Names the request in the gateway's log. With `createClient` alone: other libraries keep it beside their errors. */
  readonly requestId: string | undefined;
  /** All errors of the response that this is the first of. */
  readonly errors: readonly ResponseError[];

  /**
   * An application can have both builds of this package, for `import` and `require`: either class knows the errors of both. A
   * class that Babel compiled, as for React Native, asks this of an object that has no name yet: its prototype tells.
   */
  static override [Symbol.hasInstance](value: unknown): boolean {
    const { name, errors } = Object(value);
    // biome-ignore lint/complexity/noThisInStatic: the class that is asked, which may extend this one.
    return super[Symbol.hasInstance](value) || (name === 'GatewayError' && !!errors);
  }

  constructor(
    error: ResponseError,
    options: { cause?: unknown; errors?: readonly ResponseError[]; requestId?: unknown } = {},
  ) {
    super(error.message, options);
    // Older browsers, such as Safari 14, ignore the option.
    if (options.cause !== undefined) this.cause = options.cause;
    const { code, retryable, retryAfterMs, outcome, requestId = options.requestId } = error.extensions ?? {};
    this.code = typeof code === 'string' ? code : 'INTERNAL_SERVER_ERROR';
    this.retryable = retryable === true;
    this.retryAfterMs = typeof retryAfterMs === 'number' && retryAfterMs >= 0 ? retryAfterMs : undefined;
    this.outcome = OUTCOMES.find((one) => one === outcome);
    // Some servers write null where there is none.
    this.path = error.path ?? undefined;
    this.requestId = typeof requestId === 'string' ? requestId : undefined;
    this.errors = options.errors ?? [error];
  }

  /** The error as in a response: so it is in a saved or rendered store, and `gatewayErrors` takes it from there. */
  toJSON(): ResponseError {
    const { message, path, code, retryable, retryAfterMs, outcome, requestId } = this;
    return { message, path, extensions: { code, retryable, retryAfterMs, outcome, requestId } };
  }
}

/** Nothing was sent: without a token, or, as `NO_RESPONSE`, because of a mistake of the program. */
export function notSent(message: string, code: GatewayErrorCode = 'NO_RESPONSE', cause?: unknown): GatewayError {
  const extensions = { code, retryable: code === 'TOKEN_UNAVAILABLE', outcome: 'NOT_DONE' };
  return new GatewayError({ message, extensions }, { cause });
}

/**
 * Whether a framework leaves the page with what was thrown, as by a redirect: errors of Next.js have a `digest` in words, where one
 * of a failed server action is a number; what React Router and SvelteKit throw has a status of 3xx.
 */
export function isOfFramework(thrown: unknown): boolean {
  const { status, digest } = Object(thrown);
  return /^[A-Z]/.test(digest) || /^3..$/.test(status);
}

/** What a request of `createClient` resolves to. */
export interface Result<Data> {
  /** What was asked for. A field that could not be read is null or kept, and `errors` has an error with its path. */
  readonly data: Data;
  /** Empty when everything is there. */
  readonly errors: readonly GatewayError[];
}

/**
 * The errors of any library as `GatewayError`s: the `error` of Apollo Client or urql, what Relay throws, what `request` rejects
 * with, an error that has one of these or a response inside, one error that was saved as JSON, or a list of all these and of the
 * `errors` of results. Empty for undefined. A foreign error has the code `INTERNAL_SERVER_ERROR` and is the `cause`.
 */
export function gatewayErrors(error: unknown): readonly GatewayError[] {
  return Array.isArray(error) ? listed(error.flat(), 3) : (errorsInside(error, 3) ?? listed([error], 0));
}

/** A `GatewayError` of a list is itself alone: the others of its response are in the list too. */
const listed = (list: readonly unknown[], depth: number): readonly GatewayError[] =>
  list.flatMap((error) => {
    if (error === undefined || error === null || error instanceof GatewayError) return error ?? [];
    const found = depth > 0 && errorsInside(error, depth);
    return found || new GatewayError(isObject(error) ? Object(error) : { message: String(error) }, { cause: error });
  });

/**
 * Where errors of libraries have a response, its text, or another error. Apollo Client: `bodyText`, 3: `networkError`, `result`.
 * Relay: `source`. graphql-hooks: `fetchError`, `httpError`. Nuxt: `cause`. graphql-request: `response`; axios, got and superagent
 * with `data` or `body` in it. ofetch, RTK Query: `data`. Angular: `error`. wretch: `json`.
 */
const PLACES = [
  ...['networkError', 'fetchError', 'cause', 'result', 'data', 'source', 'httpError', 'body', 'response', 'error'],
  ...['bodyText', 'json'],
];

function errorsInside(value: unknown, depth: number): readonly GatewayError[] | undefined {
  if (value instanceof GatewayError) {
    const { errors, requestId } = value;
    return [value, ...errorsOf({ errors, extensions: { requestId } }).slice(1)];
  }
  const known = Object(typeof value === 'string' ? parsed(value) : value);
  let found: readonly GatewayError[] | undefined;
  for (const name of value && depth > 0 ? PLACES : []) found ??= errorsInside(known[name], depth - 1);
  const list = known.errors ?? known.graphQLErrors ?? known.graphqlErrors;
  if (Array.isArray(list) && !known.networkError) found ??= listed(list, depth - 1);
  return found;
}

/** What JSON says; undefined for anything else, such as HTML. */
export function parsed(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

export const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The errors of a response. */
export function errorsOf({ errors = [], extensions }: GatewayResponse): GatewayError[] {
  return errors.map((error) => new GatewayError(error, { errors, requestId: extensions?.['requestId'] }));
}

/** How long errors ask to wait, in milliseconds. */
export const longestPauseMs = (errors: readonly GatewayError[]): number =>
  Math.max(0, ...errors.map(({ retryAfterMs = 0 }) => retryAfterMs));

/**
 * The error that made a field null: the one whose path is `path` or leads to it; undefined when there is none.
 *
 * @param errors `gatewayErrors(error)` of any library, or `errors` of a result of `createClient`.
 * @param path Names and indexes with dots between them, for example `player.coupons` or `players.0.coupons`.
 */
export function errorAt<E extends { readonly path?: Path | undefined }>(
  errors: readonly E[] | undefined,
  path: string,
): E | undefined {
  const begins = (long: string, short: string) => long === short || long.startsWith(`${short}.`);
  return errors?.find((error) => error.path !== undefined && begins(path, error.path.join('.')));
}
