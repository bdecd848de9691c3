/*
 * The gates of fields, and their decisions. enforce.ts says which fields have one.
 */
import {
  defaultFieldResolver,
  type FieldNode,
  type GraphQLError,
  type GraphQLField,
  type GraphQLResolveInfo,
  getArgumentValues,
  getNullableType,
  isListType,
  isNonNullType,
  responsePathAsArray,
} from 'graphql';
import { isScope, type Scope } from '../config/scopes.ts';
import { ClientError } from '../graphql/errors.ts';
import { selectedFields } from '../graphql/selection.ts';
import type { Caller } from './caller.ts';
import type { AccessRule, AccessRules, ValuePath } from './rules.ts';

/** The part of an operation's context that a gate needs. */
interface GateContext {
  caller: Caller;
  denials: AccessDenials;
}

type Field<C extends GateContext> = GraphQLField<unknown, C>;
type Arguments = Record<string, unknown>;

/** A guarded field of an input type, and where the arguments of a field have it. */
export interface GuardedInput {
  path: readonly string[];
  scope: AccessRule['scope'];
}

/** Wraps the resolver of a field so that a caller whom the rule refuses gets null, and nothing is fetched. */
export function gateAt<C extends GateContext>(
  field: Field<C>,
  rule: AccessRule,
  inputs: readonly GuardedInput[],
  rules: AccessRules,
): void {
  const resolve = field.resolve ?? defaultFieldResolver;
  const argument = itemsArgument(field, rule);
  if (argument !== undefined) {
    gateItemsAt(field, rule, argument, resolve);
    return;
  }
  field.resolve = (parent, args, context, info) => {
    const { caller, denials } = context;
    const reason =
      denialReason(rule, caller, parent, args) ??
      refusedInput(inputs, caller, args) ??
      (rule.names && refusalOfOtherEvents(caller, info, rules));
    if (reason === undefined) return resolve(parent, args, context, info);
    denials.add(info.fieldNodes, responsePathAsArray(info.path), reason);
    return null;
  };
}

/**
 * The list argument whose items determine the items of the returned list; undefined for a field that is refused as a
 * whole.
 */
function itemsArgument(
  { type, args }: Pick<GraphQLField<unknown, unknown>, 'type' | 'args'>,
  { whom }: AccessRule,
): string | undefined {
  if (!whom || !isNonNullType(type) || !isListType(type.ofType)) return undefined;
  return args.find((argument) => isListType(getNullableType(argument.type)))?.name;
}

/**
 * A gate in front of a list that must not be null, such as `_entities`. Item n of the list belongs to item n of a list
 * argument. The rule is checked for each item: one that is refused is null, the others arrive. The resolver gets null
 * in the place of each item that was refused.
 */
function gateItemsAt<C extends GateContext>(
  field: Field<C>,
  rule: AccessRule,
  argument: string,
  resolve: NonNullable<Field<C>['resolve']>,
): void {
  field.resolve = (parent, args: Arguments, context, info) => {
    const given = args[argument];
    if (!Array.isArray(given)) throw new Error(`${info.parentType}.${field.name}: ${argument} must be a list.`);
    const { caller, denials } = context;
    const allowed = given.map((member, index) => {
      const reason = denialReason(rule, caller, parent, { ...args, [argument]: [member] });
      if (reason === undefined) return member;
      denials.add(info.fieldNodes, [...responsePathAsArray(info.path), index], reason);
      return null;
    });
    return resolve(parent, { ...args, [argument]: allowed }, context, info);
  };
}

/** Why a caller may not send these arguments. */
function refusedInput(inputs: readonly GuardedInput[], caller: Caller, args: unknown): string | undefined {
  const refused = inputs.find(({ path, scope }) => !caller.scopes.has(scope) && has(args, path));
  return refused && `The input "${refused.path.join('.')}" needs the scope "${refused.scope}".`;
}

/** Whether a path leads to a member, null included. */
function has(value: unknown, path: readonly string[]): boolean {
  const [key, ...rest] = path;
  if (Array.isArray(value)) return value.some((member) => has(member, path));
  if (key === undefined || typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return false;
  return rest.length === 0 || has(Reflect.get(value, key), rest);
}

/** Top-level mutations run one by one, so all events of an operation are checked before the first is sent. */
function refusalOfOtherEvents(caller: Caller, info: GraphQLResolveInfo, rules: AccessRules): string | undefined {
  const { operation, parentType, variableValues } = info;
  const refused = selectedFields([operation], parentType.name, info).some((node) => {
    const field = parentType.getFields()[node.name.value];
    const rule = rules.get(parentType.name)?.get(node.name.value);
    return (
      field && rule?.names && denialReason(rule, caller, undefined, getArgumentValues(field, node, variableValues))
    );
  });
  return refused ? 'Another event of this operation is not allowed, so none is sent.' : undefined;
}

/** Why a caller may not have a field, in a sentence for developers, or undefined when it may. */
export function denialReason(rule: AccessRule, caller: Caller, parent: unknown, args: unknown): string | undefined {
  const missing = missingScope(rule, caller, parent, args);
  if (missing) return `This needs the scope "${missing}"${caller.hint ? `: ${caller.hint}` : ''}.`;
  if (!rule.whom) return undefined;
  const whom = valueAt(rule.whom, parent, args);
  const allowed = Array.isArray(whom) ? whom.every((one) => mayActOn(caller, one)) : mayActOn(caller, whom);
  return allowed ? undefined : 'This is about another player, which needs the scope "any-player".';
}

/** Whether a caller may act on a player: its own, or anybody's with `any-player`. */
function mayActOn(caller: Caller, playerUniqueId: unknown): boolean {
  return caller.scopes.has('any-player') || (caller.sub !== undefined && caller.sub === playerUniqueId);
}

function missingScope(rule: AccessRule, caller: Caller, parent: unknown, args: unknown): string | undefined {
  if (caller.scopes.has(rule.scope)) return undefined;
  const names = rule.names && valueAt(rule.names, parent, args);
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

function valueAt({ below, path }: ValuePath, parent: unknown, args: unknown): unknown {
  return follow(below === 'parent' ? parent : args, path);
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

/** How many denials of one operation are reported one by one. */
const MAX_REPORTED = 100;

/** The denials of one operation: a FORBIDDEN error at the path of each field, and at most one error for all others. */
export class AccessDenials {
  readonly #reported = new Map<string, GraphQLError>();
  #more = 0;

  get size(): number {
    return this.#reported.size;
  }

  add(nodes: readonly FieldNode[], path: Path, reason: string): void {
    const key = JSON.stringify([path, reason]);
    if (this.#reported.has(key)) return;
    if (this.#reported.size >= MAX_REPORTED) {
      this.#more += 1;
      return;
    }
    this.#reported.set(key, new ClientError('FORBIDDEN', reason, { nodes, path: [...path] }));
  }

  get errors(): GraphQLError[] {
    const reported = [...this.#reported.values()];
    if (this.#more === 0) return reported;
    return [...reported, new ClientError('FORBIDDEN', `${this.#more} more fields were refused for lack of a scope.`)];
  }
}
