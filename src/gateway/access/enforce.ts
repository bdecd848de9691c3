/*
 * Access is decided in one place, when a field is about to be resolved, so that no alias, fragment or nested edge
 * leads around it. Two kinds of fields carry an `@access` rule:
 *
 * - A **gate** leads to other data (`Query.player`, `Player.coupons`) or says whom it is about. Its resolver is wrapped:
 *   a caller whom the rule refuses gets null, and nothing is fetched.
 * - A **member** is a leaf that arrives with its object (`ReferredFriend.email`). Asking at every friend of a list would
 *   cost more than all the rest, so members are withheld where their object enters the answer: the field that returns
 *   the object drops the members a caller may not see. A caller with the scope pays one check for the whole list.
 *
 * A refusal is one FORBIDDEN error. Inside a list it stands once at the list's path, not once for every entry.
 */
import {
  defaultFieldResolver,
  type GraphQLError,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  responsePathAsArray,
} from 'graphql';
import type { Context } from '../graphql/context.ts';
import { ClientError } from '../graphql/errors.ts';
import { selectsAny } from '../graphql/selection.ts';
import { type AccessRule, type AccessRules, readAccessRules, refusal } from './rules.ts';

type Field = GraphQLField<unknown, Context>;

/** Wraps the resolvers of a schema so that its `@access` rules hold. Throws when a field that needs a rule has none. */
export function enforceAccess(schema: GraphQLSchema): AccessRules {
  const rules = readAccessRules(schema);
  for (const type of Object.values(schema.getTypeMap())) {
    if (isAbstractType(type))
      throw new Error(`${type.name}: access rules are not enforced through interfaces and unions.`);
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) enforceOn(type, field, rules);
  }
  return rules;
}

function enforceOn(type: GraphQLObjectType, field: Field, rules: AccessRules): void {
  const rule = rules.get(type.name)?.get(field.name);
  if (rule && isMember(field, rule)) {
    if (field.resolve)
      throw new Error(`${type.name}.${field.name} is withheld with its object, so it has no resolver.`);
    return;
  }
  const members = membersEnteringAt(field, rule, rules);
  if (members.length > 0) withholdAt(field, members);
  if (rule) gateAt(field, rule);
}

/** A member is a leaf whose rule asks for a scope alone. */
function isMember(field: Field, rule: AccessRule): boolean {
  return isLeafType(getNamedType(field.type)) && rule.whom === undefined;
}

/** The guarded members of what a field returns, less those the field's own rule already answers for. */
function membersEnteringAt(field: Field, rule: AccessRule | undefined, rules: AccessRules): [string, AccessRule][] {
  const entering = getNamedType(field.type);
  if (!isObjectType(entering)) return [];
  return [...(rules.get(entering.name) ?? [])].filter(([name, member]) => {
    const inside = entering.getFields()[name];
    return inside && isMember(inside, member) && member.scope !== rule?.scope;
  });
}

function gateAt(field: Field, rule: AccessRule): void {
  const resolve = field.resolve ?? defaultFieldResolver;
  field.resolve = (parent, args, context, info) => {
    const reason = refusal(rule, context.caller, parent, args);
    if (reason === undefined) return resolve(parent, args, context, info);
    refuse(context, info, nearestList(info), reason);
    return null;
  };
}

function withholdAt(field: Field, members: readonly [string, AccessRule][]): void {
  const resolve = field.resolve ?? defaultFieldResolver;
  const isList = isListType(isNonNullType(field.type) ? field.type.ofType : field.type);
  field.resolve = (parent, args, context, info) => {
    const value: unknown = resolve(parent, args, context, info);
    const { caller } = context;
    const isOwn = caller.sub !== undefined && caller.sub === ownerOf(parent);
    const hidden = members.filter(([, rule]) => !caller.scopes.has(rule.scope) && !(rule.exceptOwn && isOwn));
    if (hidden.length === 0) return value;
    reportHidden(hidden, isList, context, info);
    const names = new Set(hidden.map(([name]) => name));
    return value instanceof Promise ? value.then((settled) => without(settled, names)) : without(value, names);
  };
}

/** One error for a list, or one for each member of a single object; none for members nobody asked for. */
function reportHidden(
  hidden: readonly [string, AccessRule][],
  isList: boolean,
  context: Context,
  info: GraphQLResolveInfo,
): void {
  const asked = hidden.filter(([name]) => selectsAny(info.fieldNodes, new Set([name]), info));
  const list = isList ? responsePathAsArray(info.path) : nearestList(info);
  for (const [name, rule] of asked) {
    refuse(context, info, list ?? [...responsePathAsArray(info.path), name], `This needs the scope "${rule.scope}".`);
  }
}

function without(value: unknown, names: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((one) => without(one, names));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !names.has(key)));
}

function ownerOf(parent: unknown): unknown {
  return typeof parent === 'object' && parent !== null ? Reflect.get(parent, 'playerUniqueId') : undefined;
}

/** The path of the innermost list a field stands in, or undefined outside of lists. */
function nearestList(info: GraphQLResolveInfo): (string | number)[] | undefined {
  const path = responsePathAsArray(info.path);
  const index = path.findLastIndex((key) => typeof key === 'number');
  return index < 0 ? undefined : path.slice(0, index);
}

/** Notes a refusal once for each path and reason. */
function refuse(
  context: Context,
  info: GraphQLResolveInfo,
  path: readonly (string | number)[] = responsePathAsArray(info.path),
  reason: string,
): void {
  const key = JSON.stringify([path, reason]);
  if (context.refusals.has(key)) return;
  context.refusals.set(key, new ClientError('FORBIDDEN', reason, { nodes: info.fieldNodes, path: [...path] }));
}

/** What the rules refused in one operation, to be told beside the data. */
export type Refusals = Map<string, GraphQLError>;
