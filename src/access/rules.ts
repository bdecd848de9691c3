/*
 * The `@access` rules of a schema. Each field with a rule is wrapped: a caller whom the rule rejects gets a FORBIDDEN error at
 * the path of the field, and its resolver does not run. The wrapper belongs to the field, so no alias, fragment or nested field
 * bypasses it. Compiled operations have no wrapper on fields with `SCOPE_ALONE`; engine/compiler.ts executes them only for callers
 * with the scope. The rule of an input field (`PlayerAttributesInput.totalSpent`) is checked by the field whose arguments have it.
 */
import { forEachField } from '@graphql-tools/utils';
import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
  getDirectiveValues,
  getNamedType,
  isAbstractType,
  isInputObjectType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { Caller } from '../caller.ts';
import { isScope, type Scope } from '../config/scopes.ts';
import { ClientError } from '../errors.ts';
import { isJson } from '../json.ts';

/** The fields that return the schema; `_service` belongs to federation. */
export const INTROSPECTION: ReadonlySet<string> = new Set(['__schema', '__type', '_service']);

/** The arguments of a directive of the schema, with their defaults; undefined without it. */
export function directiveOf(schema: GraphQLSchema, name: string, { astNode }: { astNode?: object | null | undefined }) {
  const directive = schema.getDirective(name);
  return directive && astNode ? getDirectiveValues(directive, astNode) : undefined;
}

export interface AccessRule {
  scope: Scope;
  /** Another scope that is needed too. */
  also?: Scope | undefined;
  /** Whether an object of the caller's own player, by its `playerUniqueId`, needs no scope. */
  exceptOwn: boolean;
  /** The id, or the ids, of the player that the field is about; undefined if the rule does not depend on a player. */
  player: ReadValue | undefined;
  /** The names that a limited scope such as `events:write:<name>` must allow; undefined for a scope without such names. */
  names: ReadValue | undefined;
}

/** Reads a value from the parent object or the arguments of a field; of a list, the values of its items. */
type ReadValue = (parent: unknown, args: unknown) => unknown;

/** The rules of a schema, by type and field; of input types too. */
export type AccessRules = ReadonlyMap<string, ReadonlyMap<string, AccessRule>>;

/** Types whose every field must have a rule: the entry points, and the most sensitive data. */
const FULLY_RULED: ReadonlySet<string> = new Set(['Query', 'Mutation', 'Subscription', 'Player']);

/** The scope that a field with `@friendId` needs where ids of players are personal data. */
const FRIEND_ID: Scope = 'contacts:read';

/**
 * Reads every `@access` of a schema, and adds the needed scope to the description of the field, because clients do not see
 * the directives. Throws for a rule that is missing or cannot be read.
 * @param personalIds Whether ids of players are personal data: `@friendId` counts then.
 */
function readAccessRules(schema: GraphQLSchema, personalIds: boolean): AccessRules {
  const rules = new Map<string, Map<string, AccessRule>>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!(isObjectType(type) || isInputObjectType(type) || isInterfaceType(type))) continue;
    const ofType = new Map<string, AccessRule>();
    rules.set(type.name, ofType);
    for (const field of Object.values(type.getFields())) {
      const name = `${type.name}.${field.name}`;
      const showsFriend = personalIds && directiveOf(schema, 'friendId', field) !== undefined;
      const rule = readRule(name, directiveOf(schema, 'access', field), showsFriend ? FRIEND_ID : undefined);
      if (!rule && FULLY_RULED.has(type.name) && !INTROSPECTION.has(field.name)) {
        throw new Error(`${name} has no @access rule: say who may ask for it.`);
      }
      if (!rule) continue;
      if (isInterfaceType(type)) throw new Error(`${name}: put @access on the fields of the implementing types.`);
      ofType.set(field.name, rule);
      field.description = [field.description, scopeNote(rule)].filter(Boolean).join(' ');
    }
  }
  return rules;
}

function scopeNote({ scope, also, exceptOwn, names }: AccessRule): string {
  if (also) return `Needs \`${scope}\` and \`${also}\`.`;
  if (exceptOwn) return `Needs \`${scope}\`, except for the caller's own player.`;
  return names ? `Needs \`${scope}\`, or \`${scope}:<name>\` for each name.` : `Needs \`${scope}\`.`;
}

function readRule(name: string, directive: ReturnType<typeof directiveOf>, also: Scope | undefined) {
  if (!directive) return also && { scope: also, exceptOwn: false, player: undefined, names: undefined };
  const { scope, player, names, exceptOwn } = directive;
  if (typeof scope === 'string' && isScope(scope))
    return { scope, also, exceptOwn: exceptOwn === true, player: readPath(player), names: readPath(names) };
  throw new Error(`${name}: @access names the unknown scope "${String(scope)}".`);
}

/** Reads `parent.x`, `argument` or `argument.x`. A path that leads nowhere is undefined, which is nobody's player. */
function readPath(text: unknown): ReadValue | undefined {
  if (typeof text !== 'string') return undefined;
  const path = text.split('.');
  return path[0] === 'parent' ? (parent) => follow(parent, path, 1) : (_parent, args) => follow(args, path, 0);
}

function follow(value: unknown, path: readonly string[], index: number): unknown {
  const key = path[index];
  if (key === undefined) return value;
  // A list in a list, however deep, is about nobody's player.
  if (Array.isArray(value))
    return value.flatMap((item) => (Array.isArray(item) ? undefined : follow(item, path, index)));
  return isJson(value) ? follow(value[key], path, index + 1) : undefined;
}

/**
 * Why a caller may not have a field, in a sentence for developers, or undefined when it may. Called for each item of long
 * lists: it allocates nothing for a caller that has the scope.
 */
export function rejectionReason(rule: AccessRule, caller: Caller, parent: unknown, args: unknown): string | undefined {
  const { scopes, playerUniqueId: own, hint } = caller;
  if (!scopes.has(rule.scope)) {
    if (rule.exceptOwn && own !== undefined && isJson(parent) && parent['playerUniqueId'] === own) return undefined;
    const missing = missingScope(rule, scopes, rule.names?.(parent, args));
    if (missing) return `This needs the scope "${missing}"${hint ? `: ${hint}` : ''}.`;
  }
  if (rule.also && !scopes.has(rule.also)) return `This needs the scope "${rule.also}".`;
  if (!rule.player || scopes.has('any-player')) return undefined;
  const id = rule.player(parent, args);
  const isOwn = own !== undefined && (Array.isArray(id) ? id.every((one) => one === own) : id === own);
  return isOwn ? undefined : 'This is about another player, which needs the scope "any-player".';
}

/** The first scope that is missing for all names; each of them can be allowed by a limited scope. */
function missingScope({ scope }: AccessRule, scopes: Caller['scopes'], names: unknown): Scope | undefined {
  if (!Array.isArray(names) || names.length === 0) return scope;
  // Each name once: a caller has few such scopes, so the first that is not allowed comes soon.
  for (const name of new Set(names)) {
    // A text that is not well-formed cannot be encoded.
    const limited = String(name).isWellFormed() ? `${scope}:${encodeURIComponent(String(name))}` : '';
    if (!isScope(limited)) return scope;
    if (!scopes.has(limited)) return limited;
  }
  return undefined;
}

type Field = GraphQLField<unknown, { caller: Caller }>;
type Resolve = NonNullable<Field['resolve']>;
type Scopes = Caller['scopes'];

/**
 * A field's extension with its scope, when the scope alone decides who may read the field: not the player, nor arguments. Compiled
 * operations read such a field without its resolver, so a list that is counted (`@listSize`) never has it.
 */
export const SCOPE_ALONE = 'scopeAlone';

/** Wraps the resolvers of a schema so that its rules hold; see readAccessRules. Throws when a field that needs a rule has none. */
export function enforceAccess(schema: GraphQLSchema, personalIds = false): AccessRules {
  const rules = readAccessRules(schema, personalIds);
  forEachField(schema, (field, typeName, fieldName) => {
    const rule = rules.get(typeName)?.get(fieldName);
    const returned = getNamedType(field.type);
    const possible = isAbstractType(returned) ? schema.getPossibleTypes(returned) : [returned];
    if (!rule && possible.some(({ name }) => name === 'Player')) {
      throw new Error(`${typeName}.${fieldName} leads to a player and has no @access rule.`);
    }
    if (field.args.some(({ type }) => isInputObjectType(getNamedType(type)))) {
      field.resolve = protectInput(field, rules);
    }
    if (!rule) return;
    const isCounted = directiveOf(schema, 'listSize', field) !== undefined;
    if (!field.resolve && !isCounted && !rule.also && !rule.player && !rule.names && !rule.exceptOwn) {
      field.extensions = { ...field.extensions, [SCOPE_ALONE]: rule.scope };
    }
    field.resolve = protect(field, rule);
  });
  return rules;
}

function protect(field: Field, rule: AccessRule): Resolve {
  const { resolve = defaultFieldResolver, type, args: declared } = field;
  const [first] = declared;
  if (first && rule.player && isNonNullType(type) && isListType(type.ofType)) {
    return protectItems(resolve, rule, first.name);
  }
  // Kept for the next item of a list: creating it, and its stack as text, takes longer than all the rest.
  let rejection: ClientError | undefined;
  return (parent, args, context, info) => {
    const reason = rejectionReason(rule, context.caller, parent, args);
    if (reason === undefined) return resolve(parent, args, context, info);
    if (rejection?.message !== reason) rejection = new ClientError('FORBIDDEN', reason);
    throw rejection;
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
  for (const item of [value].flat(Number.POSITIVE_INFINITY)) {
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
