import { readdirSync, readFileSync } from 'node:fs';
import { beforeEach, expect } from '@jest/globals';
import { buildSchema, type GraphQLObjectType, getNamedType, isAbstractType, isLeafType, isObjectType } from 'graphql';
import type { Scope } from '../../src/config/scopes.ts';
import { CLIENT_SCOPES, client, player, startWithCallers, type TestCaller, WHAT } from '../kit/callers.ts';
import { rows } from '../kit/rows.ts';
import { SCHEMA_DIRECTORY } from '../kit/schema.ts';

/*
 * Each field of the schema and each kind of caller. The rules are repeated here by hand, so that a rule that is lost from the
 * schema is noticed.
 */

/** Each field with a rule: scope, whose player, REST call, arguments for the player `ID`. */
const NEEDS = new Map(
  rows<[name: string, scope: Scope, of: string, call: string, args: string]>(`
  Query.node | players:read | player | GET /player | (id: "ID")
  Query._entities | players:read | player | GET /player | (representations: [{ __typename: "Player", id: "ID" }])
  Query.player | players:read | player | GET /player | (playerUniqueId: "ID")
  Query.players | players:read | player | GET /player | (playerUniqueIds: ["ID"])
  Query.me | players:read | | GET /player |
  Mutation.upsertPlayer | players:write | player | POST /player | (input: { playerUniqueId: "ID", attributes: { city: "London" } })
  Mutation.deletePlayer | players:delete | player | DELETE /player | (input: { playerUniqueId: "ID" })
  Mutation.trackEvents | events:write | player | POST /event | (input: { playerUniqueId: "ID", events: [{ name: "visit" }] })
  Player.id | players:read | | |
  Player.playerUniqueId | players:read | | |
  Player.attributes | players:read | | |
  Player.referralLink | players:read | | |
  Player.coupons | coupons:read | player | GET /coupon |
  Player.referredFriends | referrals:read | player | GET /referrals | (limit: 1)
  Player.referredFriendsConnection | referrals:read | player | GET /referrals | (first: 1)
  PlayerAttributes.email | contacts:read | exceptOwn | |
  PlayerAttributes.mobile | contacts:read | exceptOwn | |
  ReferredFriend.email | contacts:read | | |
  ReferredFriend.mobileNumber | contacts:read | | |
  ReferredFriend.player | players:read | player | GET /player |
  UpsertPlayerPayload.player | players:read | player | GET /player |
  TrackEventsPayload.player | players:read | player | GET /player |
`).map(([name, scope, of, call, args = '']) => [name, { scope, of, call, args }]),
);

/** Each field of a type; `text` as it is written in an operation, of a leaf without a rule with all others of its type. */
const stepsOf = (type: GraphQLObjectType) =>
  Object.values(type.getFields()).map((field) => {
    const needs = NEEDS.get(`${type}.${field.name}`);
    return { type, field, returned: getNamedType(field.type), needs, text: `${field.name}${needs?.args ?? ''}` };
  });
type Step = ReturnType<typeof stepsOf>[number];

export const sdl = [...readdirSync(SCHEMA_DIRECTORY), 'federation/subgraph.graphql']
  .filter((name) => name.endsWith('.graphql'))
  .map((name) => readFileSync(new URL(name, SCHEMA_DIRECTORY), 'utf8'))
  .join('\n');
const schema = buildSchema(sdl);
export const objectTypes = Object.values(schema.getTypeMap()).filter(isObjectType);

/** A shortest way to each field of each type; through an interface or a union, once more to each field with a rule. */
export const ways: Step[][] = [];
export const reached = new Set<string>();
const waiting = objectTypes
  .filter(({ name }) => /^(?:Query|Mutation)$/.test(name))
  .map((type) => ({ type, above: [] as Step[] }));
for (const { type, above } of waiting) {
  const through = above.find(({ returned }) => isAbstractType(returned))?.field.name ?? '';
  if (reached.has(`${type}${through}`)) continue;
  reached.add(`${type}${through}`);
  const steps = stepsOf(type);
  const free = steps.filter(({ needs, returned }) => !needs && isLeafType(returned));
  if (free[0] && !through) ways.push([...above, { ...free[0], text: free.map(({ text }) => text).join(' ') }]);
  for (const step of steps.filter((one) => !free.includes(one))) {
    const way = [...above, step];
    if (!through || step.needs) ways.push(way);
    const types = isAbstractType(step.returned) ? schema.getPossibleTypes(step.returned) : [step.returned];
    waiting.push(...types.filter(isObjectType).map((inner) => ({ type: inner, above: way })));
  }
}

export function operationOf(way: Step[], id: string): string {
  const end = isLeafType(way.at(-1)?.returned) ? '' : ' { __typename }';
  const selection = way.reduceRight((inner, { type, text }, index) => {
    const fields = `{ ${text}${inner} }`;
    return isAbstractType(way[index - 1]?.returned) ? ` { ... on ${type} ${fields} }` : ` ${fields}`;
  }, end);
  return `${way[0]?.type.name.toLowerCase()}${selection}`.replace('ID', id);
}

function isAllowed({ needs }: Step, caller: TestCaller, about: string): boolean {
  const isOwn = caller.sub === about;
  if (!needs || (needs.of === 'exceptOwn' && isOwn)) return true;
  return caller.scopes.has(needs.scope) && (needs.of !== 'player' || isOwn || caller.scopes.has('any-player'));
}

/** The calls for a caller that asks for a field of a player; the index of the step that is null, and whether it has an error. */
function expected(way: Step[], caller: TestCaller, asked: string): { calls: string[]; nullAt?: number; code?: string } {
  const calls: string[] = [];
  let about = asked;
  for (const [index, step] of way.entries()) {
    const isMe = step.field.name === 'me';
    if (isMe) about = caller.sub ?? '';
    if (step.type.name === 'ReferredFriend' && step.field.name === 'player') about = 'f1';
    if (!isAllowed(step, caller, about)) return { calls, nullAt: index, code: 'FORBIDDEN' };
    if (isMe && caller.sub === undefined) return { calls, nullAt: index };
    const next = way[index + 1];
    // A player is not read where the next field's own call tells whether it exists.
    const isLeftOut = next?.type.name === 'Player' && next.needs?.call && isAllowed(next, caller, about);
    if (step.needs?.call && !isLeftOut) calls.push(`${step.needs.call} ${about}`);
  }
  return { calls };
}

/** The path of a step, in the first item of each list. `_entities`, whose items must not be null, is rejected item by item. */
const pathOf = (way: Step[], last: number) =>
  way.slice(0, last + 1).flatMap(({ field: { name, type } }, index) => {
    const hasIndex = `${type}`.startsWith('[') && (index < last || name === '_entities');
    return hasIndex ? [name, 0] : [name];
  });

export const all = await startWithCallers({ FEDERATION: 'true' });
all.upstream.on('POST /player', ({ body }) => ({ json: { playerUniqueId: Object(body).playerUniqueId } }));
all.upstream.on('DELETE /player', { raw: '' });
beforeEach(() => all.upstream.forget());

export const callsSeen = () =>
  all.upstream.requests
    .map(({ endpoint, playerUniqueId, body }) => `${endpoint} ${playerUniqueId ?? Object(body).playerUniqueId}`)
    .sort();
export const codes = (errors: { path?: unknown; extensions: Record<string, unknown> }[]) =>
  errors.map(({ path, extensions }) => [path, extensions['code']]);

const forms = CLIENT_SCOPES.flatMap((scopes) => [client(...scopes), player('p1', ...scopes)]);
/** A server has `any-player`, a player has not. */
const isUsual = ({ sub, scopes }: TestCaller) => scopes.has('any-player') === (sub === undefined);
/** The fast tests have the usual callers. The first of each is a server with every scope: it may send the most new documents. */
export const CALLERS: Record<'usual' | 'others', TestCaller[]> = {
  usual: [...forms.filter(isUsual), player('p1', 'players:read', 'referrals:read'), player('f1', ...WHAT)],
  others: [client(...WHAT, 'any-player'), ...forms.filter((caller) => !isUsual(caller))],
};

/** Asks as a caller for each field, of the player p1 and of p2: what its scopes allow arrives, the others are FORBIDDEN. */
export async function expectWhatScopesAllow(caller: TestCaller): Promise<void> {
  // Compared together, because each comparison takes as long as the operation.
  const [seen, wanted]: [unknown[], unknown[]] = [[], []];
  for (const [way, id] of ways.flatMap((one) => [[one, 'p1'] as const, [one, 'p2'] as const])) {
    const operation = operationOf(way, id);
    all.upstream.forget();
    const { status, data, errors } = await all.as(caller, operation);
    const { calls, nullAt, code } = expected(way, caller, id);
    const path = pathOf(way, nullAt ?? way.length - 1);
    const value = path.reduce((at, key) => at?.[key], data);
    // A field without a rule can be null where it may be read.
    const isNull = nullAt !== undefined ? value === null : way.at(-1)?.needs && (value ?? null) === null;
    seen.push({ operation, status, errors: codes(errors), calls: callsSeen(), isNull });
    const isNullWanted = isNull === undefined ? undefined : nullAt !== undefined;
    wanted.push({
      operation,
      status: 200,
      errors: code ? [[path, code]] : [],
      calls: calls.sort(),
      isNull: isNullWanted,
    });
  }
  expect(seen).toEqual(wanted);
}
