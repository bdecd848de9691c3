import type { Environment, FetchFunction, GraphQLResponse, RequestParameters } from 'relay-runtime';
import { createOperationDescriptor, getRequestIdentifier, Observable } from 'relay-runtime';
import { type GatewayResponse, isRetryable, valueAt } from './errors.ts';
import { createHealer } from './healing.ts';
import { kindOf, withKeys } from './idempotency.ts';
import { post, send } from './send.ts';
import { authorizedFetch, type Fetch, type Token } from './token.ts';

export interface GatewayFetchOptions {
  /** Where the gateway is, for example `https://gateway.example/graphql`. */
  readonly url: string;
  /** The player's token; see `Token`. One environment for each signed-in player: token and store are kept. */
  readonly token?: Token;
  /** Default: the global `fetch`. */
  readonly fetch?: Fetch;
  /** The environment that has this network: `() => environment`. Without it, missing parts are not asked for again. */
  readonly environment?: () => Environment;
}

/**
 * The function of `Network.create`: sends operations with the token, by the id of a persisted document where the compiler
 * wrote one, and again where that is safe. Data with errors is delivered at once, and completes the request. While the query
 * is retained, its missing parts are then asked for again, and written into the store.
 */
export function createGatewayFetch({ url, token, fetch, environment }: GatewayFetchOptions): FetchFunction {
  const authorized = authorizedFetch(token, fetch);
  const healQuery = createHealer();
  const retained = new WeakMap<Environment, ReadonlySet<Operation>>();
  const tracked = () => {
    const own = environment?.();
    if (own && !retained.has(own)) retained.set(own, retainedOf(own));
    return own;
  };
  // `loadQuery` retains a query before it is fetched. The environment is created after this function.
  Promise.resolve()
    .then(tracked)
    .catch(() => undefined);
  return (request, given) => {
    const own = tracked();
    const variables = withKeys(given);
    const isQuery = request.operationKind === 'query';
    const kind = kindOf(isQuery, variables, request.text ?? '');
    const again = async (signal: AbortSignal) =>
      (await send(authorized, url, { ...requestOf(request, variables), signal }, kind)).response;
    const show = (environment: Environment, response: GatewayResponse, tookMs: number) => {
      const key = getRequestIdentifier(request, given);
      // `loadQuery` sends variables without the defaults that the retained operation has.
      const isThis = ({ request: { node, identifier } }: Operation) =>
        getRequestIdentifier(node.params, given) === key &&
        createOperationDescriptor(node, given).request.identifier === identifier;
      const shown = () => [...(retained.get(environment) ?? [])].find(isThis);
      const improved = (next: GatewayResponse) => {
        const operation = shown();
        const source = Observable.from(forRelay(next));
        if (operation) environment.executeWithSource({ operation, source }).subscribe({ error: () => undefined });
      };
      const isShown = (last: GatewayResponse) => {
        const isRetained = shown() !== undefined;
        if (!isRetained) invalidateMissing(environment, last);
        return isRetained;
      };
      healQuery(key, { response, tookMs, again, isShown, improved });
    };
    return Observable.create<GraphQLResponse>((sink) => {
      const abort = new AbortController();
      const started = Date.now();
      again(abort.signal).then(
        (response) => {
          sink.next(forRelay(response));
          // While this is open, Relay gives its result to others that read the query.
          sink.complete();
          if (isQuery && own) show(own, response, Date.now() - started);
        },
        (error: unknown) => {
          if (!abort.signal.aborted) sink.error(error instanceof Error ? error : new Error(String(error)));
        },
      );
      return () => abort.abort();
    });
  };
}

type Operation = Parameters<Environment['retain']>[0];

/** What the environment retains from now on: each operation that a screen shows. */
function retainedOf(environment: Environment): Set<Operation> {
  const operations = new Set<Operation>();
  const retain = environment.retain.bind(environment);
  environment.retain = (operation) => {
    // A copy: two screens can retain the same one.
    const own = { ...operation };
    operations.add(own);
    const held = retain(operation);
    const dispose = () => {
      operations.delete(own);
      held.dispose();
    };
    return { dispose };
  };
  return operations;
}

/** Nobody asks for the missing parts any more: the next screen must not take their nulls from the store. */
function invalidateMissing(environment: Environment, { data, errors = [] }: GatewayResponse): void {
  environment.commitUpdate((store) => {
    for (const { path = [] } of errors.filter(isRetryable)) {
      const ids = path.map((_, end) => valueAt(data, [...path.slice(0, end), 'id']));
      const id = ids.filter((one) => typeof one === 'string').at(-1);
      (store.get(String(id)) ?? store.getRoot()).invalidateRecord();
    }
  });
}

function requestOf({ id, text, name }: RequestParameters, variables: object): RequestInit {
  return post({ id: id ?? undefined, query: text ?? undefined, operationName: name }, variables);
}

/** Relay's types want a response to have data or errors, and errors to be its own mutable kind. */
function forRelay({ data, errors = [] }: GatewayResponse): GraphQLResponse {
  const own = errors.map(({ message, path, extensions }) => ({
    message,
    ...(path && { path: [...path] }),
    extensions,
  }));
  if (data == null) return { errors: own };
  return own.length > 0 ? { data, errors: own } : { data };
}
