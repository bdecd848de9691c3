/** The codes of the gateway, and those of this package. */
export type GatewayErrorCode =
  /** no valid token */
  | 'UNAUTHENTICATED'
  /** a field that the token does not allow */
  | 'FORBIDDEN'
  /** too many operations, new documents, or requests without a valid token from one address; at a field: coupon reads, idempotency keys */
  | 'RATE_LIMITED'
  /** the gateway has too much to do, cannot fetch the keys for tokens, or cannot check an idempotency key; at a field also: a REST call got no free connection in time, or its response is large and the gateway had no memory to read it */
  | 'OVERLOADED'
  /** the REST service did not respond in time; or an earlier event with this idempotency key: `retryable: true` while it is under way, `retryable: false` when its outcome is unknown */
  | 'UPSTREAM_TIMEOUT'
  /** no connection; the status 408, 421, 425 or 429, or one from 499 on; 422 with code 2001 (the player is busy); a redirect; a page of a firewall or a proxy; a 404 of an ingress (a text that is no JSON); or the service failed too often to be asked now */
  | 'UPSTREAM_UNAVAILABLE'
  /** the service rejected the request (4xx). For a mutation, 400 and 422 are the user error `REJECTED` instead */
  | 'UPSTREAM_REJECTED'
  /** a response that does not fit the REST interface, such as an error that is sent with 200, or that names another player */
  | 'UPSTREAM_INVALID_RESPONSE'
  /** the service rejected the gateway's keys */
  | 'UPSTREAM_MISCONFIGURED'
  /** over a limit, which `extensions.limit` names: `depth`, `aliases`, `repetitions`, `tokens`, `complexity`, `items`, `upstreamCalls`, `response` */
  | 'OPERATION_TOO_COMPLEX'
  /** not in the manifest of persisted operations */
  | 'OPERATION_NOT_ALLOWED'
  /** an argument of a query is wrong; `extensions.argument` names it. Where a variable with a default is null, only the message does. With 400: variables that do not fit their types, a list of more than 500 items, more than 10,000 properties and lists */
  | 'BAD_USER_INPUT'
  /** not a GraphQL request over HTTP, too large, or with more than 200 headers; or its `documentId`, `id` or `doc_id` is not in the manifest (with `PERSISTED_OPERATIONS=enforce`: `OPERATION_NOT_ALLOWED`) */
  | 'BAD_REQUEST'
  /** the text cannot be parsed; it does not fit the schema; it has no operation of this name */
  | 'GRAPHQL_PARSE_FAILED'
  /** the text cannot be parsed; it does not fit the schema; it has no operation of this name */
  | 'GRAPHQL_VALIDATION_FAILED'
  /** the text cannot be parsed; it does not fit the schema; it has no operation of this name */
  | 'OPERATION_RESOLUTION_FAILURE'
  /** an automatic persisted query that is not registered */
  | 'PERSISTED_QUERY_NOT_FOUND'
  /** a bug of the gateway */
  | 'INTERNAL_SERVER_ERROR'
  /** of the client package: no response of a gateway arrived */
  | 'NO_RESPONSE'
  /** of the client package: there is no token, or its text cannot be a bearer token; nothing was sent */
  | 'NO_TOKEN'
  /** of the client package: the function for the token failed, or took too long; nothing was sent */
  | 'TOKEN_UNAVAILABLE';