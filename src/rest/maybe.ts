/*
 * What may take time mostly does not: a token was verified before, a limit is counted in memory. Waiting for it all the same
 * costs three promises and a turn of the queue, and the way of a small request had enough such places to make it 3 % dearer.
 * So these answer with what is there, or with a promise, and `after` goes on with either.
 */

/** A value that is there, or comes. */
export type Maybe<Value> = Value | Promise<Value>;

/** Goes on with a value: at once when it is there. */
export function after<Value, Next>(value: Maybe<Value>, next: (value: Value) => Maybe<Next>): Maybe<Next> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** What fails at once rejects like what fails later. */
export function attempt<Result>(begin: () => Promise<Result>): Promise<Result>;
export function attempt<Result>(begin: () => Maybe<Result>): Maybe<Result>;
export function attempt<Result>(begin: () => Maybe<Result>): Maybe<Result> {
  try {
    return begin();
  } catch (error) {
    return Promise.reject(error);
  }
}
