import {
  type DirectiveNode,
  type FieldDefinitionNode,
  type FieldNode,
  type GraphQLError,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInterfaceType,
  type GraphQLSchema,
  getDirectiveValues,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import { isScope, type Scope } from '../../config/scopes.ts';
import { ClientError } from '../graphql/errors.ts';
import { INTROSPECTION } from '../limits/measure.ts';
import type { Caller } from './caller.ts';

/** An `@access` directive, read. */
export interface AccessRule {
  scope: Scope;
  exceptOwn: boolean;
  /** Whom the field is about, one or a list; undefined when the rule does not ask. */
  whom: ReadValue | undefined;
  /** The names that a limited scope such as `events:write:<name>` must allow; undefined for a scope without such names. */
  names: ReadValue | undefined;
}

type ReadValue = (parent: unknown, args: unknown) => unknown;

/** The rules of a schema, by type and field; of input types too. */
export type AccessRules = ReadonlyMap<string, ReadonlyMap<string, AccessRule>>;

/** Types whose every field must have a rule: the entry points, and the most sensitive data. */
const FULLY_RULED: ReadonlySet<string> = new Set(['Query', 'Mutation', 'Subscription', 'Player']);

/** Reads every `@access` of a schema. Throws, naming the field, for one that is missing or cannot be read. */
export function readAccessRules(schema: GraphQLSchema): AccessRules {
  const rules = new Map<string, Map<string, AccessRule>>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (isInterfaceType(type)) checkInterface(schema, type);
    if (!(isObjectType(type) || isInputObjectType(type)) || type.name.startsWith('__')) continue;
    const ofType = new Map<string, AccessRule>();
    for (const field of Object.values(type.getFields())) {
      const rule = readRule(schema, type.name, field);
      if (rule) ofType.set(field.name, rule);
    }
    rules.set(type.name, ofType);
  }
  return rules;
}

/**
 * The rules of the implementing types hold, so an interface has none of its own. That a field is guarded in one type and
 * open in another is taken for a mistake: through the interface both look the same.
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

/** Why a caller may not have a field, in a sentence for developers, or undefined when it may. */
export function refusal(rule: AccessRule, caller: Caller, parent: unknown, args: unknown): string | undefined {
  const missing = missingScope(rule, caller, parent, args);
  if (missing) return `This needs the scope "${missing}".`;
  if (!rule.whom) return undefined;
  const whom = rule.whom(parent, args);
  const allowed = Array.isArray(whom) ? whom.every((one) => mayActOn(caller, one)) : mayActOn(caller, whom);
  return allowed ? undefined : 'This is about another player, which needs the scope "any-player".';
}

/** Whether a caller may act on a player: its own, or anybody's with `any-player`. */
function mayActOn(caller: Caller, playerUniqueId: unknown): boolean {
  return caller.scopes.has('any-player') || (caller.sub !== undefined && caller.sub === playerUniqueId);
}

function missingScope(rule: AccessRule, caller: Caller, parent: unknown, args: unknown): string | undefined {
  if (caller.scopes.has(rule.scope)) return undefined;
  const names = rule.names?.(parent, args);
  if (!Array.isArray(names) || names.length === 0) return rule.scope;
  for (const name of names) {
    const limited = limitedScope(rule.scope, String(name));
    if (!limited || !caller.scopes.has(limited)) return limited ?? rule.scope;
  }
  return undefined;
}

/** The scope that allows one name; undefined for a text that cannot be encoded. */
function limitedScope(scope: Scope, name: string): Scope | undefined {
  if (!name.isWellFormed()) return undefined;
  const text = `${scope}:${encodeURIComponent(name)}`;
  return isScope(text) ? text : undefined;
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

/** Compiles `parent.x`, `argument` or `argument.x` to a function; the first word is checked against the schema. */
function readPath(name: string, path: string, args: readonly string[]): ReadValue {
  const [first = '', ...rest] = path.split('.');
  if (first === 'parent') return (parent) => follow(parent, rest);
  if (!args.includes(first)) throw new Error(`${name}: @access: "${path}" names no argument of the field.`);
  return (_parent, values) => follow(values, [first, ...rest]);
}

/** The value at a path; of a list, the values of its members. */
function follow(value: unknown, path: readonly string[]): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (Array.isArray(value)) return value.flatMap((member) => follow(member, path));
  return typeof value === 'object' && value !== null ? follow(Reflect.get(value, key), rest) : undefined;
}

/** The path of a field in the response: response keys and positions in lists. */
export type Path = readonly (string | number)[];

/** How many refusals of one operation are reported one by one. */
const MAX_TOLD = 100;

/** The refusals of one operation: a FORBIDDEN error at the path of each field, and at most one error for all others. */
export class Refusals {
  readonly #told = new Map<string, GraphQLError>();
  #more = 0;

  get size(): number {
    return this.#told.size;
  }

  add(nodes: readonly FieldNode[], path: Path, reason: string): void {
    const key = JSON.stringify([path, reason]);
    if (this.#told.has(key)) return;
    if (this.#told.size >= MAX_TOLD) {
      this.#more += 1;
      return;
    }
    this.#told.set(key, new ClientError('FORBIDDEN', reason, { nodes, path: [...path] }));
  }

  get errors(): GraphQLError[] {
    const told = [...this.#told.values()];
    if (this.#more === 0) return told;
    return [...told, new ClientError('FORBIDDEN', `${this.#more} more fields were refused for lack of a scope.`)];
  }
}
