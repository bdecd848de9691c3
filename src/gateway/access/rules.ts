import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getDirectiveValues,
  isObjectType,
} from 'graphql';
import { isScope, type Scope } from '../../config/scopes.ts';
import { type Caller, mayActOn } from './caller.ts';

/** An `@access` directive, read. */
export interface AccessRule {
  scope: Scope;
  exceptOwn: boolean;
  /** Whom the field is about, or undefined when the rule does not ask. May be a list. */
  whom: ((parent: unknown, args: unknown) => unknown) | undefined;
}

/** The rules of a schema, by type and field. */
export type AccessRules = ReadonlyMap<string, ReadonlyMap<string, AccessRule>>;

/** Types whose every field must carry a rule: the ways into the data, and the data that is worth most. */
const FULLY_RULED: ReadonlySet<string> = new Set(['Query', 'Mutation', 'Subscription', 'Player']);

/** Reads every `@access` of a schema. Throws, naming the field, for one that is missing or cannot be understood. */
export function readAccessRules(schema: GraphQLSchema): AccessRules {
  const rules = new Map<string, Map<string, AccessRule>>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    const ofType = new Map<string, AccessRule>();
    for (const field of Object.values(type.getFields())) {
      const rule = readRule(schema, type, field);
      if (rule) ofType.set(field.name, rule);
    }
    rules.set(type.name, ofType);
  }
  return rules;
}

/** Why a caller may not have a field, in a sentence for developers, or undefined when it may. */
export function refusal(rule: AccessRule, caller: Caller, parent: unknown, args: unknown): string | undefined {
  if (!caller.scopes.has(rule.scope)) return `This needs the scope "${rule.scope}".`;
  if (!rule.whom) return undefined;
  const whom = rule.whom(parent, args);
  const allowed = Array.isArray(whom) ? whom.every((one) => mayActOn(caller, one)) : mayActOn(caller, whom);
  return allowed ? undefined : 'This is about another player, which needs the scope "any-player".';
}

function readRule(
  schema: GraphQLSchema,
  type: GraphQLObjectType,
  field: GraphQLField<unknown, unknown>,
): AccessRule | undefined {
  const directive = schema.getDirective('access');
  const values = directive && field.astNode ? getDirectiveValues(directive, field.astNode) : undefined;
  const name = `${type.name}.${field.name}`;
  if (!values) {
    if (FULLY_RULED.has(type.name)) throw new Error(`${name} has no @access rule: say who may ask for it.`);
    return undefined;
  }
  const { scope, whom, exceptOwn } = values;
  if (typeof scope !== 'string' || !isScope(scope)) {
    throw new Error(`${name}: @access names the unknown scope "${String(scope)}".`);
  }
  return {
    scope,
    exceptOwn: exceptOwn === true,
    whom: typeof whom === 'string' ? readPath(name, whom, field) : undefined,
  };
}

/** Compiles `parent.x`, `argument` or `argument.x` to a function; the first word is checked against the schema. */
function readPath(name: string, path: string, field: GraphQLField<unknown, unknown>): AccessRule['whom'] {
  const [first = '', ...rest] = path.split('.');
  if (first === 'parent') return (parent) => follow(parent, rest);
  if (!field.args.some((argument) => argument.name === first)) {
    throw new Error(`${name}: @access(whom: "${path}") names no argument of the field.`);
  }
  return (_parent, args) => follow(args, [first, ...rest]);
}

function follow(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined),
    value,
  );
}
