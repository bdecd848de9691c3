/*
 * Each field with an `@access` rule is wrapped: a caller whom the rule rejects gets a FORBIDDEN error at the path of the
 * field, and its resolver does not run. The wrapper belongs to the field, so no alias, fragment or nested field bypasses it.
 * The rule of an input field (`PlayerAttributesInput.totalSpent`) is checked by the field whose arguments have it.
 */
import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { Scope } from '../config/scopes.ts';
import { ClientError } from '../errors.ts';
import { isJson } from '../rest/decode/members.ts';
import type { Caller } from './caller.ts';
import { type AccessRule, type AccessRules, readAccessRules, rejectionReason } from './rules.ts';

type Field = GraphQLField<unknown, { caller: Caller }>;
type Resolve = NonNullable<Field['resolve']>;

/** A field of an input type with a rule, and where the arguments of a field have it. */
interface ProtectedInput {
  path: readonly string[];
  scope: Scope;
}

/** Types about one person: each field that returns them must have a rule. */
const PERSONAL: ReadonlySet<string> = new Set(['Player']);

/**
 * Wraps the resolvers of a schema so that its `@access` rules hold, and adds the needed scopes to the descriptions of
 * fields. Throws when a field that needs a rule has none.
 */
export function enforceAccess(schema: GraphQLSchema): AccessRules {
  const rules = readAccessRules(schema);
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const rule = rules.get(type.name)?.get(field.name);
      const inputs = field.args.flatMap((argument) => inputsBelow(argument.type, [argument.name], rules));
      if (!rule) checkOpen(schema, `${type.name}.${field.name}`, field, inputs);
      const returned = [...(rules.get(getNamedType(field.type).name)?.values() ?? [])];
      const own = returned.find(({ exceptOwn }) => exceptOwn)?.exceptOwn;
      if (own) field.resolve = rememberOwn(field, own);
      if (rule) field.resolve = protect(field, rule, inputs);
    }
  }
  return rules;
}

/** Throws for a field without a rule that needs one. */
function checkOpen(schema: GraphQLSchema, name: string, field: Field, inputs: readonly ProtectedInput[]): void {
  if (inputs.length > 0) throw new Error(`${name} takes protected input and has no @access rule.`);
  const type = getNamedType(field.type);
  const returned = isAbstractType(type) ? schema.getPossibleTypes(type) : [type];
  const isPersonal = returned.some((one) => PERSONAL.has(one.name));
  if (isPersonal) throw new Error(`${name} leads to a player and has no @access rule.`);
}

function protect(field: Field, rule: AccessRule, inputs: readonly ProtectedInput[]): Resolve {
  const resolve = field.resolve ?? defaultFieldResolver;
  const argument = itemsArgument(field, rule);
  if (argument !== undefined) return protectItems(resolve, rule, argument);
  return (parent, args, context, info) => {
    const reason = rejectionReason(rule, context.caller, parent, args) ?? rejectedInput(inputs, context.caller, args);
    if (reason !== undefined) throw new ClientError('FORBIDDEN', reason);
    return resolve(parent, args, context, info);
  };
}

/** An object such as a player's attributes does not tell whose it is: its parent does. */
function rememberOwn({ resolve = defaultFieldResolver }: Field, own: WeakMap<object, Caller>): Resolve {
  return (parent, args, context, info) => {
    const value: unknown = resolve(parent, args, context, info);
    const { sub } = context.caller;
    const isOwn = sub !== undefined && isJson(parent) && parent['playerUniqueId'] === sub;
    if (isOwn && isJson(value)) own.set(value, context.caller);
    return value;
  };
}

/** The list argument whose items determine the items of a returned list that must not be null, such as `_entities`. */
function itemsArgument({ type, args }: Field, { whom }: AccessRule): string | undefined {
  if (!whom || !isNonNullType(type) || !isListType(type.ofType)) return undefined;
  return args.find((argument) => isListType(getNullableType(argument.type)))?.name;
}

/** Checks each item of a list argument. The resolver gets null for a rejected one, whose result is the error. */
function protectItems(resolve: Resolve, rule: AccessRule, argument: string): Resolve {
  return (parent, args, context, info) => {
    const given: unknown = args[argument];
    if (!Array.isArray(given)) throw new Error(`${info.fieldName}: ${argument} must be a list.`);
    const reasons = given.map((item) => rejectionReason(rule, context.caller, parent, { ...args, [argument]: [item] }));
    const allowed = given.map((item, index) => (reasons[index] === undefined ? item : null));
    const results: unknown = resolve(parent, { ...args, [argument]: allowed }, context, info);
    if (!Array.isArray(results)) throw new Error(`${info.fieldName} must return a list.`);
    return results.map((result, index) => {
      const reason = reasons[index];
      return reason === undefined ? result : Promise.reject(new ClientError('FORBIDDEN', reason));
    });
  };
}

function inputsBelow(type: GraphQLInputType, path: readonly string[], rules: AccessRules): ProtectedInput[] {
  const named = getNamedType(type);
  if (!isInputObjectType(named)) return [];
  if (path.length > 10) throw new Error(`${named.name} contains itself; access rules cannot be enforced in it.`);
  return Object.values(named.getFields()).flatMap((field) => {
    const rule = rules.get(named.name)?.get(field.name);
    const inner = [...path, field.name];
    return [...(rule ? [{ path: inner, scope: rule.scope }] : []), ...inputsBelow(field.type, inner, rules)];
  });
}

/** Why a caller may not send these arguments. */
function rejectedInput(inputs: readonly ProtectedInput[], { scopes }: Caller, args: unknown): string | undefined {
  const rejected = inputs.find(({ path, scope }) => !scopes.has(scope) && has(args, path));
  return rejected && `The input "${rejected.path.join('.')}" needs the scope "${rejected.scope}".`;
}

/** Whether a path leads to a value, null included. */
function has(value: unknown, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return true;
  if (Array.isArray(value)) return value.some((item) => has(item, [key, ...rest]));
  return isJson(value) && Object.hasOwn(value, key) && has(value[key], rest);
}
