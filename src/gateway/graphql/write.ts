/*
 * JSON.stringify looks at every character of an answer for what must be escaped, and at every name again, for each member
 * of a list: with 200 friends that was a quarter of the instructions of a request. Here an operation gets a function of its
 * own that puts its answer together: names stand in its source, and texts go between quotes unseen.
 *
 * That is right for texts in which there is nothing to escape, and dangerous for any other: a quote in a player's name would
 * end it and begin what somebody else wrote. So it must be certain, and this makes it certain for next to nothing: where a
 * JSON text has no backslash, none of its strings holds anything that is written with one. The REST client looks for that
 * byte in every body and says in the record of a call whether its answer is plain (rest/plain.ts); short-way.ts uses the
 * function for operations of which all calls are. So every text of an answer to a query must come from these calls or from
 * the schema, as it does: of texts that clients send, the player's id alone is in answers, and it is looked at too. A field
 * that gives back another one must keep its operation from being written so.
 *
 * No text of a client becomes source code: of a document there are only the names of fields and aliases, which are letters,
 * digits and underscores.
 */
import {
  type DocumentNode,
  type FieldNode,
  GraphQLNonNull,
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
import { hasDirectives } from './jit-safety.ts';
import { fragmentsOf, type Selected, selectedFields } from './selection.ts';

/** An operation's data as JSON: complete, and with nothing to escape in any text. */
export type WriteData = (data: object) => string;

/** Scalars that JSON shows as JavaScript does, null included. */
const SHOWN_ALIKE: ReadonlySet<string> = new Set(['Int', 'Float', 'Boolean']);
/** Scalars that are text. What is neither is left to JSON.stringify. */
const TEXTS: ReadonlySet<string> = new Set(['ID', 'String', 'Date', 'DateTime', 'URL', 'LanguageCode']);

/** Undefined where a document has directives: fields are not always there. */
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
    const body = isListType(type) ? list(memberOf('value[index]', type.ofType, nodes)) : object(fieldsOf(type, nodes));
    functions[place] = `function ${name}(text, value) {\n${body}\nreturn text;\n}`;
    return name;
  }

  function memberOf(value: string, type: GraphQLOutputType, nodes: readonly Selected[]): Member {
    const nonNull = isNonNullType(type);
    const shown = getNullableType(type);
    if (!isLeafType(shown)) {
      const write = define(shown, nodes);
      return { value, nonNull, isText: false, add: (before) => `text = ${write}(text + '${before}', ${value});` };
    }
    if (isEnumType(shown) || TEXTS.has(shown.name)) {
      return { value, nonNull, isText: true, add: (before) => `text += '${before}"' + ${value} + '"';` };
    }
    const json = SHOWN_ALIKE.has(shown.name) ? value : `JSON.stringify(${value})`;
    return { value, nonNull, isText: false, add: (before) => `text += '${before}' + ${json};` };
  }

  function fieldsOf(type: GraphQLOutputType, nodes: readonly Selected[]): Field[] {
    if (!isObjectType(type)) throw new TypeError(`${type} has no fields.`);
    const byKey = new Map<string, [FieldNode, ...FieldNode[]]>();
    for (const field of selectedFields(nodes, selecting)) {
      const key = (field.alias ?? field.name).value;
      const same = byKey.get(key);
      if (same) same.push(field);
      else byKey.set(key, [field]);
    }
    return [...byKey].map(([key, nodes]) => {
      // Only `__typename` is not among the fields of its type.
      const found = type.getFields()[nodes[0].name.value]?.type ?? new GraphQLNonNull(GraphQLString);
      return { key, ...memberOf(`value.${key}`, found, nodes) };
    });
  }
}

/** A member of a list or an object. */
interface Member {
  /** What it is called in the source. */
  value: string;
  nonNull: boolean;
  /** Whether it stands between quotes. */
  isText: boolean;
  /** The source that adds what stands before it, and the member; it is not null. */
  add(before: string): string;
}

interface Field extends Member {
  key: string;
}

function list(member: Member): string {
  return `text += '[';
for (let index = 0; index < value.length; index += 1) {
if (index > 0) text += ',';
${add('', member)}
}
text += ']';`;
}

/** Mostly no text is null; then the quote that ends one is added with what stands before the next field. */
function object(fields: readonly Field[]): string {
  const missable = fields.filter(({ isText, nonNull }) => isText && !nonNull);
  const complete = addFields(fields.map((field) => ({ ...field, nonNull: field.nonNull || field.isText })));
  if (missable.length === 0) return complete;
  const areThere = missable.map(({ value }) => `${value} !== null`).join(' && ');
  return `if (${areThere}) {\n${complete}\n} else {\n${addFields(fields)}\n}`;
}

function addFields(fields: readonly Field[]): string {
  let open = '';
  const adding = fields.map((field, index) => {
    const before = `${open}${index === 0 ? '{' : ','}"${field.key}":`;
    open = field.isText && field.nonNull ? '"' : '';
    return open ? `text += '${before}"' + ${field.value};` : add(before, field);
  });
  return `${adding.join('\n')}\ntext += '${open}}';`;
}

function add(before: string, { value, nonNull, add }: Member): string {
  return nonNull ? add(before) : `if (${value} === null) text += '${before}null'; else ${add(before)}`;
}
