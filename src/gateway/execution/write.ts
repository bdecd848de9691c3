/*
 * JSON.stringify looks at every character of an answer for what must be escaped, and at every name again, for each member
 * of a list: with 200 friends that was a quarter of the instructions of a request. Here an operation gets a function of its
 * own that puts its answer together: names stand in its source, and texts go between quotes unseen.
 *
 * That is right for texts in which there is nothing to escape, and dangerous for any other: a quote in a player's name would
 * end it and begin what somebody else wrote. So it must be certain, and this makes it certain for next to nothing: where a
 * JSON text has no backslash, none of its strings holds anything that is written with one. The REST client looks for that
 * byte in every body and says in the record of a call whether its answer is plain (rest/plain.ts); short-way.ts uses the
 * function for operations of which all calls are. So whatever an answer to a query says must come from these calls or from
 * the schema, as it does: of texts that clients send, the player's id alone is in answers, and it is looked at too.
 *
 * No text of a client becomes source code: of a document there are only the names of fields and aliases, which are letters,
 * digits and underscores.
 */
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLOutputType,
  type GraphQLSchema,
  GraphQLString,
  getNullableType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type OperationDefinitionNode,
} from 'graphql';
import { fragmentsOf, type Selected, selectedFields } from '../selection.ts';
import { hasDirectives } from './compilable.ts';

/** An operation's data as JSON: complete, and with nothing to escape in any text. */
export type WriteData = (data: object) => string;

/** Scalars that JSON shows as JavaScript does, null included. */
const SHOWN_ALIKE: ReadonlySet<string> = new Set(['Int', 'Float', 'Boolean']);
/** Scalars that are text. What is neither is left to JSON.stringify. */
const TEXTS: ReadonlySet<string> = new Set(['ID', 'String', 'Date', 'DateTime', 'URL', 'LanguageCode']);

/** Undefined for an operation with directives, whose fields are not always there. */
export function compileWriter(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): WriteData | undefined {
  const root = schema.getRootType(operation.operation);
  if (!root || hasDirectives(document)) return undefined;
  const selecting = { fragments: fragmentsOf(document), variableValues: {} };
  const functions: string[] = [];
  const write = define(root, [operation]);
  return new Function(`${functions.join('\n')}\nreturn (data) => ${write}('', data);`)() as WriteData;

  /** Defines a function that adds an object or a list to a text, and gives back its name. */
  function define(type: GraphQLOutputType, nodes: readonly Selected[]): string {
    const name = `write${functions.length}`;
    const place = functions.push('') - 1;
    const body = isListType(type) ? membersOf(type.ofType, nodes) : fieldsOf(type, nodes);
    functions[place] = `function ${name}(text, value) {\n${body}\nreturn text;\n}`;
    return name;
  }

  function membersOf(type: GraphQLOutputType, nodes: readonly Selected[]): string {
    return `text += '[';
for (let index = 0; index < value.length; index += 1) {
const member = value[index];
if (index > 0) text += ',';
${add('', type, nodes)}
}
text += ']';`;
  }

  function fieldsOf(type: GraphQLOutputType, nodes: readonly Selected[]): string {
    if (!isObjectType(type)) throw new TypeError(`${type} has no fields.`);
    const byKey = new Map<string, FieldNode[]>();
    for (const field of selectedFields(nodes, selecting)) {
      const key = (field.alias ?? field.name).value;
      byKey.set(key, [...(byKey.get(key) ?? []), field]);
    }
    const fields = [...byKey].map(([key, [first, ...others]], index) => {
      // Only `__typename` is not among the fields of its type.
      const found = type.getFields()[first?.name.value ?? '']?.type ?? GraphQLString;
      const nodes = first ? [first, ...others] : others;
      return `{ const member = value.${key};\n${add(`${index === 0 ? '{' : ','}"${key}":`, found, nodes)} }`;
    });
    return `${fields.join('\n')}\ntext += '}';`;
  }

  /** Adds what stands before a member, and the member. */
  function add(before: string, type: GraphQLOutputType, nodes: readonly Selected[]): string {
    const nullable = getNullableType(type);
    const shown = addShown(before, nullable, nodes);
    return isNonNullType(type) ? shown : `if (member === null) text += '${before}null'; else ${shown}`;
  }

  function addShown(before: string, type: GraphQLOutputType, nodes: readonly Selected[]): string {
    if (!isLeafType(type)) return `text = ${define(type, nodes)}(text + '${before}', member);`;
    if (isEnumType(type) || TEXTS.has(type.name)) return `text += '${before}"' + member + '"';`;
    if (SHOWN_ALIKE.has(type.name)) return `text += '${before}' + member;`;
    return `text += '${before}' + JSON.stringify(member);`;
  }
}
