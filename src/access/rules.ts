import {
  type DirectiveNode,
  type FieldDefinitionNode,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInterfaceType,
  type GraphQLSchema,
  getDirectiveValues,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import { isScope, type Scope } from '../config/scopes.ts';
import { INTROSPECTION } from '../limits/measure.ts';

/** An `@access` directive, read. */
export interface AccessRule {
  scope: Scope;
  /** Whether the caller's own player needs no scope. */
  exceptOwn: boolean;
  /**
   * Where the id, or the ids, of the player that the field is about are; undefined if the rule does not depend on a player.
   */
  whom: ValuePath | undefined;
  /** The names that a limited scope such as `events:write:<name>` must allow; undefined for a scope without such names. */
  names: ValuePath | undefined;
}

/** Where a value is: below the parent object of a field, or below its arguments. */
export interface ValuePath {
  below: 'parent' | 'arguments';
  path: readonly string[];
}

/** The rules of a schema, by type and field; of input types too. */
export type AccessRules = ReadonlyMap<string, ReadonlyMap<string, AccessRule>>;

/** Types whose every field must have a rule: the entry points, and the most sensitive data. */
const FULLY_RULED: ReadonlySet<string> = new Set(['Query', 'Mutation', 'Subscription', 'Player']);

/**
 * Reads every `@access` of a schema, and adds the needed scope to the description of the field, because clients do not see
 * the directives. Throws, naming the field, for one that is missing or cannot be read.
 */
export function readAccessRules(schema: GraphQLSchema): AccessRules {
  const rules = new Map<string, Map<string, AccessRule>>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (isInterfaceType(type)) checkInterface(schema, type);
    if (!(isObjectType(type) || isInputObjectType(type)) || type.name.startsWith('__')) continue;
    const ofType = new Map<string, AccessRule>();
    for (const field of Object.values(type.getFields())) {
      const rule = readRule(schema, type.name, field);
      if (!rule) continue;
      ofType.set(field.name, rule);
      field.description = [field.description, scopeNote(rule)].filter(Boolean).join(' ');
    }
    rules.set(type.name, ofType);
  }
  return rules;
}

function scopeNote({ scope, exceptOwn, names }: AccessRule): string {
  if (exceptOwn) return `Needs \`${scope}\`, except for the caller's own player.`;
  return names ? `Needs \`${scope}\`, or \`${scope}:<name>\` for each name.` : `Needs \`${scope}\`.`;
}

/**
 * An interface has no rules of its own; those of the implementing types apply. It is an error if a field has a rule in one
 * type and none in another, because both look the same through the interface.
 */
function checkInterface(schema: GraphQLSchema, type: GraphQLInterfaceType): void {
  for (const { name, astNode } of Object.values(type.getFields())) {
    if (hasRule(astNode)) throw new Error(`${type}.${name}: put @access on the fields of the implementing types.`);
    const implementing = schema.getPossibleTypes(type);
    const open = implementing.filter((object) => !hasRule(object.getFields()[name]?.astNode));
    if (open.length > 0 && open.length < implementing.length) {
      throw new Error(`${type}.${name} has an @access rule in some types and none in ${open.join(', ')}.`);
    }
  }
}

function hasRule(node: FieldDefinitionNode | null | undefined): boolean {
  return node?.directives?.some(({ name }) => name.value === 'access') === true;
}

function readRule(
  schema: GraphQLSchema,
  typeName: string,
  field: GraphQLField<unknown, unknown> | GraphQLInputField,
): AccessRule | undefined {
  const directive = schema.getDirective('access');
  const node: { directives?: readonly DirectiveNode[] } | null | undefined = field.astNode;
  const values = directive && node ? getDirectiveValues(directive, node) : undefined;
  const name = `${typeName}.${field.name}`;
  if (!values) {
    if (FULLY_RULED.has(typeName) && !INTROSPECTION.has(field.name))
      throw new Error(`${name} has no @access rule: say who may ask for it.`);
    return undefined;
  }
  const { scope, whom, names, exceptOwn } = values;
  if (typeof scope !== 'string' || !isScope(scope)) {
    throw new Error(`${name}: @access names the unknown scope "${String(scope)}".`);
  }
  const args = 'args' in field ? field.args.map((argument) => argument.name) : [];
  return {
    scope,
    exceptOwn: exceptOwn === true,
    whom: typeof whom === 'string' ? readPath(name, whom, args) : undefined,
    names: typeof names === 'string' ? readPath(name, names, args) : undefined,
  };
}

/** Reads `parent.x`, `argument` or `argument.x`; the first word is checked against the schema. */
function readPath(name: string, text: string, args: readonly string[]): ValuePath {
  const path = text.split('.');
  if (path[0] === 'parent') return { below: 'parent', path: path.slice(1) };
  if (args.includes(path[0] ?? '')) return { below: 'arguments', path };
  throw new Error(`${name}: @access: "${text}" names no argument of the field.`);
}
