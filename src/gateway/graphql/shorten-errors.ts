import type { FormattedExecutionResult, GraphQLFormattedError } from 'graphql';

/** The most the errors of an answer without data may weigh, in bytes of JSON. */
const MAX_ERROR_BYTES = 12_000;

/** One mistake can stand in very many places (fields that conflict); so many of them are told. */
const MAX_LOCATIONS = 10;

/** What graphql-js adds to a message when a name is nearly right. */
const SUGGESTION = / ?Did you mean .*$/s;

/**
 * Keeps error replies small and quiet. A document of many mistakes is told of the first ones, and where
 * `hideSuggestions` is set, nobody learns the schema's names from "Did you mean".
 */
export function shortenErrors(result: FormattedExecutionResult, hideSuggestions: boolean): void {
  const { errors, data } = result;
  if (!errors) return;
  const told = errors.map((error) => shorten(error, hideSuggestions));
  // Beside data every error explains a null, so none of them is left out.
  result.errors = data == null ? firstOf(told) : told;
}

function shorten(error: GraphQLFormattedError, hideSuggestions: boolean): GraphQLFormattedError {
  const { message, locations } = error;
  return {
    ...error,
    message: hideSuggestions ? message.replace(SUGGESTION, '') : message,
    ...(locations && locations.length > MAX_LOCATIONS ? { locations: locations.slice(0, MAX_LOCATIONS) } : {}),
  };
}

/** As many errors as fit, at least one. */
function firstOf(errors: readonly GraphQLFormattedError[]): readonly GraphQLFormattedError[] {
  let bytes = 0;
  const end = errors.findIndex((error) => {
    bytes += Buffer.byteLength(JSON.stringify(error));
    return bytes > MAX_ERROR_BYTES;
  });
  return end < 0 ? errors : errors.slice(0, Math.max(end, 1));
}
