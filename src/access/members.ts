/*
 * Members that a caller may not see are removed from an object where it enters the response. The field that returns the
 * object does it, so the leaves need no resolvers of their own.
 */
import {
  defaultFieldResolver,
  defaultTypeResolver,
  type FieldNode,
  type GraphQLAbstractType,
  type GraphQLField,
  type GraphQLResolveInfo,
  getNamedType,
  isAbstractType,
  responsePathAsArray,
} from 'graphql';
import type { Context } from '../graphql/context.ts';
import { selectedFields } from '../graphql/selection.ts';
import type { Path } from './gate.ts';
import type { AccessRule } from './rules.ts';

type Members = readonly [name: string, rule: AccessRule][];

/** The guarded members of each object type that a field can return, by the type's name. */
export type MembersByType = ReadonlyMap<string, Members>;

/** Wraps the resolver of a field so that it removes the members of the objects it returns. */
export function removeMembersAt(field: GraphQLField<unknown, Context>, members: MembersByType): void {
  const resolve = field.resolve ?? defaultFieldResolver;
  const type = getNamedType(field.type);
  field.resolve = (parent, args, context, info) => {
    const value: unknown = resolve(parent, args, context, info);
    const hidden = hiddenFrom(members, parent, context);
    if (hidden.size === 0) return value;
    const at = responsePathAsArray(info.path);
    if (isAbstractType(type)) return removeOfAny(value, at, { type, hidden, context, info });
    const removal = { typeName: type.name, hidden: hidden.get(type.name) ?? [], context, info };
    return value instanceof Promise
      ? value.then((settled) => remove(settled, at, removal))
      : remove(value, at, removal);
  };
}

/** The members that the caller may not see, without the types of which it may see all. */
function hiddenFrom(members: MembersByType, parent: unknown, { caller }: Context): MembersByType {
  const isOwn = caller.sub !== undefined && caller.sub === ownerOf(parent);
  const hidden = new Map<string, Members>();
  for (const [type, rules] of members) {
    const ofType = rules.filter(([, rule]) => !caller.scopes.has(rule.scope) && !(rule.exceptOwn && isOwn));
    if (ofType.length > 0) hidden.set(type, ofType);
  }
  return hidden;
}

interface Removal {
  typeName: string;
  hidden: Members;
  context: Context;
  info: GraphQLResolveInfo;
}

/** A copy of an object or a list without the hidden members, and an error for each of them that was selected. */
function remove(value: unknown, at: Path, removal: Removal): unknown {
  report(value, at, removal);
  return without(value, new Set(removal.hidden.map(([name]) => name)));
}

interface AnyRemoval extends Omit<Removal, 'typeName' | 'hidden'> {
  type: GraphQLAbstractType;
  hidden: MembersByType;
}

/** The same where the type is known only at run time. Each member of a list is awaited and may fail by itself. */
async function removeOfAny(pending: unknown, at: Path, removal: AnyRemoval): Promise<unknown> {
  const value = await pending;
  if (Array.isArray(value)) return value.map((one, index) => removeOfAny(one, [...at, index], removal));
  if (value == null) return value;
  const { type, hidden, context, info } = removal;
  const typeName = await (type.resolveType ?? defaultTypeResolver)(value, context, info, type);
  const known = info.schema.getPossibleTypes(type).some(({ name }) => name === typeName);
  // Execution would find the same: an object of no type of the schema does not enter the response.
  if (!known || typeName === undefined)
    throw new Error(`${info.parentType}.${info.fieldName}: an object without a type.`);
  return remove(value, at, { typeName, hidden: hidden.get(typeName) ?? [], context, info });
}

function report(value: unknown, at: Path, { typeName, hidden, context, info }: Removal): void {
  const selected = selectedFields(info.fieldNodes, typeName, info);
  for (const [name, { scope }] of hidden) {
    const nodes = selected.filter((node) => node.name.value === name);
    for (const path of Array.isArray(value)
      ? value.flatMap((one, index) => (one == null ? [] : [[...at, index]]))
      : [at]) {
      if (value != null) denyAt(path, nodes, `This needs the scope "${scope}".`, context.denials);
    }
  }
}

/** Fields of one response key are one field of the response. */
function denyAt(path: Path, nodes: readonly FieldNode[], reason: string, denials: Context['denials']): void {
  const keys = new Set(nodes.map(({ alias, name }) => (alias ?? name).value));
  for (const key of keys) {
    const ofKey = nodes.filter(({ alias, name }) => (alias ?? name).value === key);
    denials.add(ofKey, [...path, key], reason);
  }
}

function without(value: unknown, names: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((one) => without(one, names));
  if (typeof value !== 'object' || value === null || names.size === 0) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !names.has(key)));
}

function ownerOf(parent: unknown): unknown {
  return typeof parent === 'object' && parent !== null ? Reflect.get(parent, 'playerUniqueId') : undefined;
}
