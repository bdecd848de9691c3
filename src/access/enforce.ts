/*
 * Access is checked in one place, before a field is resolved, so that no alias, fragment or nested field can bypass it.
 * Three kinds of fields can have an `@access` rule:
 *
 * - A **gate** leads to other data (`Query.player`, `Player.coupons`) or has an argument that names the player (gate.ts).
 * - A **member** is a leaf that arrives with its object (`ReferredFriend.email`). The field that returns the object removes
 *   it (members.ts): a check for each friend of a list would cost more than the rest of the request.
 * - An **input field** (`PlayerAttributesInput.totalSpent`) is checked at the gate whose arguments have it.
 *
 * docs/security.md says what clients get of a refusal; docs/architecture.md has the rules for abstract types.
 */
import {
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isInputObjectType,
  isLeafType,
  isObjectType,
} from 'graphql';
import type { Context } from '../graphql/context.ts';
import { type GuardedInput, gateAt } from './gate.ts';
import { type MembersByType, removeMembersAt } from './members.ts';
import { type AccessRule, type AccessRules, readAccessRules } from './rules.ts';

type Field = GraphQLField<unknown, Context>;

/** Types about one person: each field that returns them must have a rule. */
const GATED: ReadonlySet<string> = new Set(['Player']);

/**
 * Wraps the resolvers of a schema so that its `@access` rules hold, and adds the needed scopes to the descriptions of
 * fields. Throws when a field that needs a rule has none.
 */
export function enforceAccess(schema: GraphQLSchema): AccessRules {
  const rules = readAccessRules(schema);
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) enforceOn(schema, type, field, rules);
  }
  return rules;
}

function enforceOn(schema: GraphQLSchema, type: GraphQLObjectType, field: Field, rules: AccessRules): void {
  const rule = rules.get(type.name)?.get(field.name);
  if (rule && isMember(field, rule)) return;
  const entering = typesEnteringAt(field, schema);
  const members = membersOf(entering, rule, rules);
  if (members.size > 0) removeMembersAt(field, members);
  const inputs = guardedInputs(field, rules);
  if (inputs.length > 0 && !rule)
    throw new Error(`${type.name}.${field.name} takes guarded input and has no @access rule.`);
  if (!rule && entering.some(({ name }) => GATED.has(name)))
    throw new Error(`${type.name}.${field.name} leads to a player and has no @access rule.`);
  if (rule) gateAt(field, rule, inputs, rules);
}

/** A member is a leaf without a resolver whose rule requires only a scope. */
function isMember(field: Field, rule: AccessRule): boolean {
  return isLeafType(getNamedType(field.type)) && rule.whom === undefined && !field.resolve;
}

/** The object types that a field can return. */
function typesEnteringAt(field: Field, schema: GraphQLSchema): readonly GraphQLObjectType[] {
  const type = getNamedType(field.type);
  if (isAbstractType(type)) return schema.getPossibleTypes(type);
  return isObjectType(type) ? [type] : [];
}

/** The guarded members of the types a field can return, without those that need the same scope as the field itself. */
function membersOf(
  types: readonly GraphQLObjectType[],
  rule: AccessRule | undefined,
  rules: AccessRules,
): MembersByType {
  const members = types.map((type): [string, [string, AccessRule][]] => [
    type.name,
    [...(rules.get(type.name) ?? [])].filter(([name, member]) => {
      const inside = type.getFields()[name];
      return inside && isMember(inside, member) && member.scope !== rule?.scope;
    }),
  ]);
  return new Map(members.filter(([, ofType]) => ofType.length > 0));
}

function guardedInputs(field: Field, rules: AccessRules): GuardedInput[] {
  return field.args.flatMap((argument) => inputsBelow(argument.type, [argument.name], rules));
}

function inputsBelow(type: GraphQLInputType, path: readonly string[], rules: AccessRules): GuardedInput[] {
  const named = getNamedType(type);
  if (!isInputObjectType(named)) return [];
  if (path.length > 10) throw new Error(`${named.name} contains itself; access rules cannot be enforced in it.`);
  return Object.values(named.getFields()).flatMap((field) => {
    const rule = rules.get(named.name)?.get(field.name);
    const inner = [...path, field.name];
    return [...(rule ? [{ path: inner, scope: rule.scope }] : []), ...inputsBelow(field.type, inner, rules)];
  });
}
