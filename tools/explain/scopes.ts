/* Which scopes a token needs for an operation, from the rules that the gateway enforces. */
import {
  type GraphQLCompositeType,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isInputObjectType,
  isInputType,
  isUnionType,
  Kind,
  type SelectionSetNode,
  typeFromAST,
} from 'graphql';
import type { AccessRules } from '../../src/access/rules.ts';
import type { FileOperation } from './operations.ts';

/** About which player a field is: the token's own, or another one. */
type Subject = 'own' | 'other';

export interface NeededScopes {
  /** For the token's own player. */
  own: readonly string[];
  /** For another player; undefined when the operation is about the token's own player alone. */
  other: readonly string[] | undefined;
  /** Scopes for single fields of the input, with these fields. */
  inputs: ReadonlyMap<string, readonly string[]>;
}

export function neededScopes(schema: GraphQLSchema, rules: AccessRules, of: FileOperation): NeededScopes {
  const [own, other] = (['own', 'other'] as const).map((subject) => scopesFor(schema, rules, of, subject));
  const inputs = new Map<string, string[]>();
  for (const { type } of of.operation.variableDefinitions ?? []) {
    const input = typeFromAST(schema, type);
    if (isInputType(input)) collectInputs(input, rules, inputs);
  }
  return { own: own ?? [], other: other?.includes('any-player') ? other : undefined, inputs };
}

function scopesFor(schema: GraphQLSchema, rules: AccessRules, of: FileOperation, asked: Subject): string[] {
  const scopes = new Set<string>();
  const fragments = new Map(
    of.document.definitions.flatMap((part) =>
      part.kind === Kind.FRAGMENT_DEFINITION ? [[part.name.value, part]] : [],
    ),
  );
  const root = schema.getRootType(of.operation.operation);
  if (root) walk(of.operation.selectionSet, root, asked);
  return [...scopes].sort();

  function walk(set: SelectionSetNode, type: GraphQLCompositeType, subject: Subject): void {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        visitField(type, selection.name.value, selection.selectionSet, subject);
        continue;
      }
      const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments.get(selection.name.value);
      const condition = fragment?.typeCondition && schema.getType(fragment.typeCondition.name.value);
      if (fragment) walk(fragment.selectionSet, isCompositeType(condition) ? condition : type, subject);
    }
  }

  function visitField(
    type: GraphQLCompositeType,
    name: string,
    set: SelectionSetNode | undefined,
    subject: Subject,
  ): void {
    const field = isUnionType(type) ? undefined : type.getFields()[name];
    if (!field) return;
    const rule = rules.get(type.name)?.get(name);
    // A friend is never the token's own player; `me` always is. Arguments name the player that is asked for.
    const isMe = type === root && rule !== undefined && !rule.player;
    const target = type.name === 'ReferredFriend' ? 'other' : isMe ? 'own' : type === root ? asked : subject;
    if (rule && !(rule.exceptOwn && target === 'own')) scopes.add(rule.scope);
    if (rule?.player && target === 'other') scopes.add('any-player');
    const inner = getNamedType(field.type);
    if (set && isCompositeType(inner)) walk(set, inner, target);
  }
}

function collectInputs(type: GraphQLInputType, rules: AccessRules, into: Map<string, string[]>): void {
  const named = getNamedType(type);
  if (!isInputObjectType(named)) return;
  for (const field of Object.values(named.getFields())) {
    const scope = rules.get(named.name)?.get(field.name)?.scope;
    if (scope) into.set(scope, [...(into.get(scope) ?? []), field.name]);
    collectInputs(field.type, rules, into);
  }
}
