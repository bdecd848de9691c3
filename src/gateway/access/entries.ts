/*
 * A gate in front of a list that must not be null, such as `_entities`. Its entries belong to the members of a list
 * argument, each at its place. So the rule is asked for each of them: an entry that is refused is null, the others arrive.
 */
import { type GraphQLField, getNullableType, isListType, isNonNullType, responsePathAsArray } from 'graphql';
import type { Context } from '../graphql/context.ts';
import { type AccessRule, refusal } from './rules.ts';

type Field = GraphQLField<unknown, Context>;
type Arguments = Record<string, unknown>;

/** The name of the list argument that the entries of a field belong to; undefined when they are not refused one by one. */
export function entriesArgument({ type, args }: Field, { whom }: AccessRule): string | undefined {
  if (!whom || !isNonNullType(type) || !isListType(type.ofType)) return undefined;
  return args.find((argument) => isListType(getNullableType(argument.type)))?.name;
}

/** The resolver gets null in the place of each member that was refused. */
export function gateEntriesAt(
  field: Field,
  rule: AccessRule,
  argument: string,
  resolve: NonNullable<Field['resolve']>,
): void {
  field.resolve = (parent, args: Arguments, context, info) => {
    const given = args[argument];
    if (!Array.isArray(given)) throw new Error(`${info.parentType}.${field.name}: ${argument} must be a list.`);
    const { caller, refusals } = context;
    const allowed = given.map((member, index) => {
      const reason = refusal(rule, caller, parent, { ...args, [argument]: [member] });
      if (reason === undefined) return member;
      refusals.add(info.fieldNodes, [...responsePathAsArray(info.path), index], reason);
      return null;
    });
    return resolve(parent, { ...args, [argument]: allowed }, context, info);
  };
}
