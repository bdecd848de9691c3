export * from './client.ts';
export { TypedDocumentString } from './document.ts';
export {
  errorAt,
  GatewayError,
  type GatewayResponse,
  gatewayErrors,
  type Outcome,
  type Path,
  type ResponseError,
  type Result,
} from './errors.ts';
export { createFetch, type FetchOptions } from './fetch.ts';
export type { GatewayErrorCode } from './generated/codes.ts';
export * from './generated/operations.ts';
export { type HealOptions, heal } from './heal.ts';
export { createIdempotencyKey } from './idempotency.ts';
export { keepParts } from './keep-parts.ts';
export type { Fetch, Token } from './token.ts';
