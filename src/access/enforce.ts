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
import { ClientError } from '../errors.ts';
import { isJson } from '../rest/decode/members.ts';
import type { Caller } from './caller.ts';
import { type AccessRule, type AccessRules, readAccessRules, rejectionReason } from './rules.ts';

type Field = GraphQLField<unknown, { caller: Caller }>;
type Resolve = NonNullable<Field['resolve']>;

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
      const returned = getNamedType(field.type);
      const possible = isAbstractType(returned) ? schema.getPossibleTypes(returned) : [returned];
      if (!rule && possible.some((one) => PERSONAL.has(one.name))) {
        throw new Error(`${type.name}.${field.name} leads to a player and has no @access rule.`);
      }
      const ofReturned = [...(rules.get(returned.name)?.values() ?? [])];
      const own = ofReturned.find(({ exceptOwn }) => exceptOwn)?.exceptOwn;
      if (own) field.resolve = rememberOwn(field, own);
      if (field.args.some(({ type }) => isInputObjectType(getNamedType(type)))) {
        field.resolve = protectInput(field, rules);
      }
      if (rule) field.resolve = protect(field, rule);
    }
  }
  return rules;
}

function protect(field: Field, rule: AccessRule): Resolve {
  const { resolve = defaultFieldResolver } = field;
  const argument = itemsArgument(field, rule);
  if (argument !== undefined) return protectItems(resolve, rule, argument);
  return (parent, args, context, info) => {
    const reason = rejectionReason(rule, context.caller, parent, args);
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

function protectInput({ args: given, resolve = defaultFieldResolver }: Field, rules: AccessRules): Resolve {
  return (parent, args, context, info) => {
    const [reason] = given.flatMap(({ type, name }) => rejectedInputs(type, args[name], name, context.caller, rules));
    if (reason !== undefined) throw new ClientError('FORBIDDEN', reason);
    return resolve(parent, args, context, info);
  };
}

/** Why a caller may not send a value: a reason for each field with a rule that rejects it, even if it is null. */
function rejectedInputs(
  given: GraphQLInputType,
  value: unknown,
  path: string,
  caller: Caller,
  rules: AccessRules,
): string[] {
  const type = getNamedType(given);
  if (!isInputObjectType(type)) return [];
  if (Array.isArray(value)) return value.flatMap((item) => rejectedInputs(type, item, path, caller, rules));
  const sent = Object.values(type.getFields()).filter(({ name }) => isJson(value) && Object.hasOwn(value, name));
  return sent.flatMap((field) => {
    const rule = rules.get(type.name)?.get(field.name);
    const inner = `${path}.${field.name}`;
    if (rule && !caller.scopes.has(rule.scope)) return `The input "${inner}" needs the scope "${rule.scope}".`;
    return rejectedInputs(field.type, Object(value)[field.name], inner, caller, rules);
  });
}
