import { GraphQLError, GraphQLScalarType, Kind } from 'graphql';

const LANGUAGE = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,4}$/;

/** A language code, handed to the REST service as it was written. */
export const LanguageCode = new GraphQLScalarType<string, string>({
  name: 'LanguageCode',
  serialize: String,
  parseValue: readLanguage,
  parseLiteral: (node) => readLanguage(node.kind === Kind.STRING ? node.value : undefined),
});

/** A web address. It only ever leaves: the REST client has made sure of its form. */
export const URLScalar = new GraphQLScalarType<string, string>({
  name: 'URL',
  serialize: String,
  parseValue: readUrl,
  parseLiteral: (node) => readUrl(node.kind === Kind.STRING ? node.value : undefined),
});

function readLanguage(value: unknown): string {
  if (typeof value === 'string' && LANGUAGE.test(value)) return value;
  throw new GraphQLError('A LanguageCode is written like "en", "fr" or "pt-BR".');
}

function readUrl(value: unknown): string {
  if (typeof value === 'string' && /^https?:\/\//i.test(value) && URL.canParse(value)) return value;
  throw new GraphQLError('A URL begins with "http://" or "https://".');
}
