/*
 * Each field with an `@access` rule is wrapped: a caller whom the rule rejects gets a FORBIDDEN error at the path of the
 * field, and its resolver does not run. The wrapper belongs to the field, so no alias, fragment or nested field bypasses it.
 * Compiled operations have no wrapper on fields with `SCOPE_ALONE`; engine/jit.ts executes them only for callers with the scope.
 * The rule of an input field (`PlayerAttributesInput.totalSpent`) is checked by the field whose arguments have it.
 */
import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { ClientError } from '../errors.ts';
import type { Caller } from './caller.ts';
import { type AccessRule, type AccessRules, readAccessRules, rejectionReason } from './rules.ts';

type Field = GraphQLField<unknown, { caller: Caller }>;
type Resolve = NonNullable<Field['resolve']>;
type Scopes = Caller['scopes'];

/** A field's extension with its scope, when the scope alone decides who may read the field: not the player, nor arguments. */
export const SCOPE_ALONE = 'scopeAlone';

/** Wraps the resolvers of a schema so that its rules hold; see readAccessRules. Throws when a field that needs a rule has none. */
export function enforceAccess(schema: GraphQLSchema, personalIds = false): AccessRules {
  const rules = readAccessRules(schema, personalIds);
  for (const type of Object.values(schema.getTypeMap()).filter(isObjectType)) {
    for (const field of Object.values(type.getFields())) {
      const rule = rules.get(type.name)?.get(field.name);
      const returned = getNamedType(field.type);
      const possible = isAbstractType(returned) ? schema.getPossibleTypes(returned) : [returned];
      if (!rule && possible.some(({ name }) => name === 'Player')) {
        throw new Error(`${type.name}.${field.name} leads to a player and has no @access rule.`);
      }
      if (field.args.some(({ type }) => isInputObjectType(getNamedType(type)))) {
        field.resolve = protectInput(field, rules);
      }
      if (rule && !field.resolve && !rule.player && !rule.names && !rule.exceptOwn) {
        field.extensions = { ...field.extensions, [SCOPE_ALONE]: rule.scope };
      }
      if (rule) field.resolve = protect(field, rule);
    }
  }
  return rules;
}

function protect(field: Field, rule: AccessRule): Resolve {
  const { resolve = defaultFieldResolver, type, args: declared } = field;
  const [first] = declared;
  if (first && rule.player && isNonNullType(type) && isListType(type.ofType)) {
    return protectItems(resolve, rule, first.name);
  }
  return (parent, args, context, info) => {
    const reason = rejectionReason(rule, context.caller, parent, args);
    if (reason !== undefined) throw new ClientError('FORBIDDEN', reason);
    return resolve(parent, args, context, info);
  };
}

/**
 * For a list that must not be null, such as `_entities`: checks each item of the argument that determines its items. The
 * resolver gets null for a rejected one, whose result is the error.
 */
function protectItems(resolve: Resolve, rule: AccessRule, argument: string): Resolve {
  return (parent, args, context, info) => {
    const given: unknown[] = [args[argument]].flat();
    const reasons = given.map((item) => rejectionReason(rule, context.caller, parent, { ...args, [argument]: [item] }));
    const allowed = given.map((item, index) => (reasons[index] === undefined ? item : null));
    const results: unknown[] = [resolve(parent, { ...args, [argument]: allowed }, context, info)].flat();
    return results.map((result, index) => {
      const reason = reasons[index];
      return reason === undefined ? result : Promise.reject(new ClientError('FORBIDDEN', reason));
    });
  };
}

function protectInput({ args: declared, resolve = defaultFieldResolver }: Field, rules: AccessRules): Resolve {
  return (parent, args, context, info) => {
    for (const { type, name } of declared) rejectInput(type, args[name], name, context.caller.scopes, rules);
    return resolve(parent, args, context, info);
  };
}

/** Throws FORBIDDEN for a value with a field whose rule needs another scope, even if that is null. */
function rejectInput(type: GraphQLInputType, value: unknown, path: string, scopes: Scopes, rules: AccessRules): void {
  const named = getNamedType(type);
  if (!isInputObjectType(named)) return;
  for (const item of [value].flat()) {
    for (const [name, inner] of Object.entries(Object(item))) {
      const scope = rules.get(named.name)?.get(name)?.scope;
      if (scope && !scopes.has(scope)) {
        throw new ClientError('FORBIDDEN', `The input "${path}.${name}" needs the scope "${scope}".`);
      }
      const field = named.getFields()[name];
      if (field) rejectInput(field.type, inner, `${path}.${name}`, scopes, rules);
    }
  }
}
