/* What developers see of an operation in `extensions.plan`. Not computed in production. */
import { type GraphQLSchema, TypeInfo, visit, visitWithTypeInfo } from 'graphql';
import { type AccessRules, directiveOf } from '../access/rules.ts';
import { type CachedOperation, onlyWith } from './documents.ts';
import { reasonNotToCompile } from './jit-safety.ts';

export interface Plan {
  /** The scopes of all its fields. Some are not needed for the caller's own player. */
  scopes: string[];
  /** The fields that need a REST call, as schema coordinates, by the `operationId` of the call. */
  fields: Record<string, string[]>;
  /** Why it is never compiled; null when it may be. */
  notCompiled: string | null;
}

/** @param fields The number of its fields with fragments expanded. */
export function planOf(schema: GraphQLSchema, rules: AccessRules, cached: CachedOperation, fields: number): Plan {
  const { operation } = cached;
  const document = onlyWith(cached.document, operation);
  const notCompiled = cached.notCompiled ?? reasonNotToCompile(schema, document, operation, fields) ?? null;
  const plan: Plan = { scopes: [], fields: {}, notCompiled };
  const add = (list: string[], item: string | undefined) => item && !list.includes(item) && list.push(item);
  const types = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(types, {
      Field({ name }) {
        const [type, field] = [types.getParentType()?.name ?? '', types.getFieldDef()];
        const rule = rules.get(type)?.get(name.value);
        add(plan.scopes, rule?.scope);
        add(plan.scopes, rule?.also);
        const rest = field && directiveOf(schema, 'rest', field)?.['operation'];
        if (typeof rest !== 'string') return;
        plan.fields[rest] ??= [];
        add(plan.fields[rest], `${type}.${name.value}`);
      },
    }),
  );
  return plan;
}
