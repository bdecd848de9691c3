/** A problem that the caller can correct in the input of a mutation. */
export interface UserError {
  code: 'INVALID' | 'REQUIRED' | 'DUPLICATE' | 'TOO_LONG' | 'NOT_FOUND' | 'REJECTED';
  /** A path that begins with `input`. */
  field: readonly string[];
  message: string;
}

/** A mistake in the input that is found only while the write is prepared. Nothing was written. */
export class InputError extends Error {
  readonly userError: UserError;

  constructor(userError: UserError) {
    super(userError.message);
    this.userError = userError;
  }
}
