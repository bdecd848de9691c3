/** A problem that the operator can solve. The message is complete and is printed without a stack. */
export class OperatorError extends Error {}

/*
 * All errors that the service answers with. The interface document shows neither statuses nor error bodies; this is the
 * choice of this service: `{ code, message }`, a code for programs and a sentence for people.
 */

/** An error that is answered as it is. Anything else that is thrown is a fault of this program and answered with 500. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: number;

  /** @param code Default: the HTTP status. */
  constructor(status: number, message: string, code: number = status) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** A required member, parameter or header is missing. */
export const missing = (what: string): ApiError => new ApiError(400, `${what} is missing`, 4);

/** A member, parameter or header is invalid; `why` follows its name: "limit must be …". */
export const invalid = (what: string, why: string): ApiError => new ApiError(400, `${what} ${why}`, 5);

/** The body is not JSON, or is JSON with more than one meaning. */
export const unreadable = (why: string): ApiError => new ApiError(400, why, 7);

/** A key is missing or wrong. The response does not tell which of the two: it must not help to guess. */
export const unauthenticated = (header: string): ApiError =>
  new ApiError(401, `The header ${header} is missing or wrong`, 1);

export const unknownPlayer = (): ApiError => new ApiError(404, 'There is no player with this playerUniqueId', 101);
