import {
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
import type { Caller } from './caller.ts';

/** An `@access` directive, read. */
export interface AccessRule {
  scope: Scope;
  /** Objects of callers' own players, where these need no scope; each with its caller. */
  exceptOwn: Own | undefined;
  /** The id, or the ids, of the player that the field is about; undefined if the rule does not depend on a player. */
  whom: ReadValue | undefined;
  /** The names that a limited scope such as `events:write:<name>` must allow; undefined for a scope without such names. */
  names: ReadValue | undefined;
}

type Own = WeakMap<object, Caller>;

/** Reads a value from the parent object or the arguments of a field; of a list, the values of its items. */
type ReadValue = (parent: unknown, args: unknown) => unknown;

/** The rules of a schema, by type and field; of input types too. */
export type AccessRules = ReadonlyMap<string, ReadonlyMap<string, AccessRule>>;

/** Types whose every field must have a rule: the entry points, and the most sensitive data. */
const FULLY_RULED: ReadonlySet<string> = new Set(['Query', 'Mutation', 'Subscription', 'Player']);

/**
 * Reads every `@access` of a schema, and adds the needed scope to the description of the field, because clients do not see
 * the directives. Throws, naming the field, for one that is missing or cannot be read.
 */
export function readAccessRules(schema: GraphQLSchema): AccessRules {
  const types = Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'));
  const rules = new Map<string, Map<string, AccessRule>>();
  const own: Own = new WeakMap();
  for (const type of types) {
    if (!(isObjectType(type) || isInputObjectType(type))) continue;
    const ofType = new Map<string, AccessRule>();
    rules.set(type.name, ofType);
    for (const field of Object.values(type.getFields())) {
      const rule = readRule(schema, `${type.name}.${field.name}`, field, own);
      if (rule) {
        ofType.set(field.name, rule);
        field.description = [field.description, scopeNote(rule)].filter(Boolean).join(' ');
      } else if (FULLY_RULED.has(type.name) && !INTROSPECTION.has(field.name)) {
        throw new Error(`${type.name}.${field.name} has no @access rule: say who may ask for it.`);
      }
    }
  }
  for (const type of types) if (isInterfaceType(type)) checkInterface(schema, type, rules);
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
function checkInterface(schema: GraphQLSchema, type: GraphQLInterfaceType, rules: AccessRules): void {
  const implementing = schema.getPossibleTypes(type);
  for (const field of Object.values(type.getFields())) {
    const name = `${type.name}.${field.name}`;
    if (readRule(schema, name, field)) throw new Error(`${name}: put @access on the fields of the implementing types.`);
    const open = implementing.filter((object) => !rules.get(object.name)?.has(field.name));
    if (open.length > 0 && open.length < implementing.length) {
      throw new Error(`${name} has an @access rule in some types and none in ${open.join(', ')}.`);
    }
  }
}

type Ruled = GraphQLField<unknown, unknown> | GraphQLInputField;

function readRule(schema: GraphQLSchema, name: string, field: Ruled, own?: Own): AccessRule | undefined {
  const directive = schema.getDirective('access');
  const values = directive && field.astNode ? getDirectiveValues(directive, field.astNode) : undefined;
  if (!values) return undefined;
  const { scope, whom, names, exceptOwn } = values;
  if (typeof scope !== 'string' || !isScope(scope)) {
    throw new Error(`${name}: @access names the unknown scope "${String(scope)}".`);
  }
  const read = (path: unknown) => (typeof path === 'string' ? readPath(name, path, field) : undefined);
  return { scope, exceptOwn: exceptOwn === true ? own : undefined, whom: read(whom), names: read(names) };
}

/** Reads `parent.x`, `argument` or `argument.x`; the first word is checked against the schema. */
function readPath(name: string, text: string, field: Ruled): ReadValue {
  const path = text.split('.');
  if (path[0] === 'parent') return (parent) => follow(parent, path, 1);
  if ('args' in field && field.args.some((argument) => argument.name === path[0])) {
    return (_parent, args) => follow(args, path, 0);
  }
  throw new Error(`${name}: @access: "${text}" names no argument of the field.`);
}

function follow(value: unknown, path: readonly string[], index: number): unknown {
  const key = path[index];
  if (key === undefined) return value;
  if (Array.isArray(value)) return value.flatMap((item) => follow(item, path, index));
  return typeof value === 'object' && value !== null ? follow(Reflect.get(value, key), path, index + 1) : undefined;
}
