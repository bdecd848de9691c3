import { GraphQLError, GraphQLScalarType, Kind, type ValueNode } from 'graphql';

const LANGUAGE = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,4}$/;

/** A language code, sent to the REST service unchanged. */
export const LanguageCode = textScalar(
  'LanguageCode',
  (text) => LANGUAGE.test(text),
  'A LanguageCode is written like "en", "fr" or "pt-BR".',
);

/** A URL. It is in responses only, decoded by the REST client. */
export const URLScalar = textScalar('URL', (text) => URL.canParse(text), 'A URL is absolute, with a scheme.');

function textScalar(name: string, accepts: (text: string) => boolean, message: string) {
  const read = (value: unknown, node?: ValueNode): string => {
    if (typeof value === 'string' && accepts(value)) return value;
    throw new GraphQLError(message, { nodes: node ?? null });
  };
  return new GraphQLScalarType<string, string>({
    name,
    serialize: String,
    parseValue: (value) => read(value),
    parseLiteral: (node) => read(node.kind === Kind.STRING ? node.value : undefined, node),
  });
}
