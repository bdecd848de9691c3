import type {
  DeletePlayerInput,
  PlayerAttributesInput,
  TrackEventsInput,
  UpsertPlayerInput,
} from '../../../generated/graphql.ts';
import type { UserError } from '../resolvers/parents.ts';
import { keyProblem, nameProblem, type Problem, playerIdProblem, textProblem } from './text.ts';

/** What a client can mend in the input of `upsertPlayer`; empty when the input is fit to be sent. */
export function upsertProblems({ playerUniqueId, attributes, device }: UpsertPlayerInput): UserError[] {
  return firstOf([
    ...at(['playerUniqueId'], playerIdProblem(playerUniqueId)),
    ...(attributes ? attributeProblems(attributes) : []),
    ...(device ? at(['device', 'osType'], deviceTypeProblem(device.osType)) : []),
    ...(device?.token == null ? [] : at(['device', 'token'], textProblem(device.token))),
  ]);
}

/** What a client can mend in the input of `deletePlayer`. */
export function deleteProblems({ playerUniqueId }: DeletePlayerInput): UserError[] {
  return at(['playerUniqueId'], playerIdProblem(playerUniqueId));
}

/** What a client can mend in the input of `trackEvents`. */
export function eventProblems({ playerUniqueId, events, idempotencyKey }: TrackEventsInput): UserError[] {
  const seen = new Set<string>();
  const problems = at(['playerUniqueId'], playerIdProblem(playerUniqueId));
  if (idempotencyKey != null) problems.push(...at(['idempotencyKey'], keyProblem(idempotencyKey)));
  if (events.length === 0) problems.push(...at(['events'], { code: 'REQUIRED', message: 'must not be empty' }));
  events.forEach(({ name }, index) => {
    const problem = seen.has(name)
      ? ({ code: 'DUPLICATE', message: 'must not repeat the name of an earlier event' } as const)
      : nameProblem(name);
    problems.push(...at(['events', String(index), 'name'], problem));
    seen.add(name);
  });
  return firstOf(problems);
}

/** So many mistakes are told at once; whoever makes thousands is not helped by an answer larger than the input. */
const MAX_PROBLEMS = 50;

function firstOf(problems: UserError[]): UserError[] {
  return problems.slice(0, MAX_PROBLEMS);
}

function attributeProblems(attributes: PlayerAttributesInput): UserError[] {
  return Object.entries(attributes).flatMap(([member, value]) => {
    if (typeof value === 'string') return at(['attributes', member], textProblem(value));
    if (member !== 'tags' || !Array.isArray(value)) return [];
    return value.flatMap((tag, index) => at(['attributes', 'tags', String(index)], tagProblem(String(tag))));
  });
}

/** Tags travel as one comma-separated text, so a comma inside one would make two of it. */
function tagProblem(tag: string): Problem | undefined {
  if (tag.trim() === '') return { code: 'REQUIRED', message: 'must not be empty' };
  if (tag.includes(',')) return { code: 'INVALID', message: 'must not contain a comma; give two tags instead' };
  return textProblem(tag);
}

function deviceTypeProblem(osType: string): Problem | undefined {
  if (osType.trim() === '') return { code: 'REQUIRED', message: 'must not be empty' };
  return textProblem(osType);
}

function at(path: string[], problem: Problem | undefined): UserError[] {
  if (!problem) return [];
  return [{ code: problem.code, field: ['input', ...path], message: `${path.join('.')} ${problem.message}.` }];
}
