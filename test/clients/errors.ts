// #region errors
type GraphQLError = { extensions?: { readonly [name: string]: unknown } | undefined };
type Errors = readonly GraphQLError[];

/** Whether sending the same operation again is safe and can help. */
export const isRetryable = (errors: Errors): boolean =>
  errors.length > 0 && errors.every(({ extensions }) => extensions?.['retryable'] === true);

/** How long to wait before an attempt (1, 2, …), in milliseconds. */
export function delayBefore(attempt: number, errors: Errors = []): number {
  const asked = errors.map(({ extensions }) => Number(extensions?.['retryAfterMs'] ?? 0));
  return Math.max(...asked, Math.random() * 300 * 2 ** attempt);
}

// #endregion errors

/** What else to do about an error. `show` to the player, `report` to the developers, or neither. */
export function reactionTo({ extensions }: GraphQLError): 'show' | 'report' | 'ignore' {
  if (extensions?.['outcome'] === 'DONE') return 'ignore'; // The write was done. Read the player again.
  if (extensions?.['outcome'] === 'UNKNOWN') return 'show'; // "We do not know whether that worked."
  switch (extensions?.['code']) {
    case 'RATE_LIMITED':
    case 'OVERLOADED':
    case 'UPSTREAM_TIMEOUT':
    case 'UPSTREAM_UNAVAILABLE':
      return 'show'; // "Try again later", beside the part of the screen that is missing.
    default:
      return 'report'; // BAD_USER_INPUT, FORBIDDEN, … : a mistake in the client or in the configuration.
  }
}
