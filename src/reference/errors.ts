/*
 * Every way in which the service refuses a request. The interface document shows neither statuses nor error bodies;
 * these are this service's choice: a number that programs can tell apart, and a sentence for people.
 */

/** What every refusal looks like on the wire. */
export interface ErrorBody {
  code: number;
  message: string;
}

/** A refusal on its way to the client. Anything else that is thrown is a fault of this program and answered with 500. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: number;

  /** @param code Defaults to the HTTP status, where the status says it all. */
  constructor(status: number, message: string, code: number = status) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** A member, parameter or header that has to be there is not. */
export const missing = (what: string): Refusal => new Refusal(400, `${what} is missing`, 4);

/** A member, parameter or header cannot be used; `why` follows its name: "limit must be …". */
export const invalid = (what: string, why: string): Refusal => new Refusal(400, `${what} ${why}`, 5);

/** The body is not JSON, or is JSON that could be understood in two ways. */
export const unreadable = (why: string): Refusal => new Refusal(400, why, 7);

/** A key is missing or wrong. Which of the two is not told apart: the answer must not help to guess. */
export const unauthenticated = (header: string): Refusal =>
  new Refusal(401, `The header ${header} is missing or wrong`, 1);

export const unknownPlayer = (): Refusal => new Refusal(404, 'There is no player with this playerUniqueId', 101);
