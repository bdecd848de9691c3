import { badUserInput } from '../errors.ts';
import { type Problem, playerIdProblem } from './text.ts';

/** The largest page of the REST service (interface document, "Limits"). */
export const MAX_PAGE_SIZE = 200;
/** How many players one field may ask for. */
export const MAX_PLAYERS = 50;
/** The last row a page may reach; beyond it row numbers would not fit the service's integers. */
const MAX_ROW = 2 ** 31 - 1;

/** Makes sure that an argument can name a player; throws BAD_USER_INPUT otherwise. */
export function checkPlayerId(argument: string, playerUniqueId: string): void {
  refuse(argument, playerIdProblem(playerUniqueId));
}

/** Makes sure of a list of players: at most 50, each of them a possible identifier. */
export function checkPlayerIds(argument: string, playerUniqueIds: readonly string[]): void {
  if (playerUniqueIds.length > MAX_PLAYERS) {
    throw badUserInput(argument, `must have at most ${MAX_PLAYERS} members, not ${playerUniqueIds.length}`);
  }
  playerUniqueIds.forEach((id, index) => {
    refuse(`${argument}[${index}]`, playerIdProblem(id));
  });
}

/** Makes sure of a page of the REST service. */
export function checkPage(page: number, limit: number): void {
  checkSize('limit', limit);
  if (page < 1) throw badUserInput('page', 'must be at least 1');
  if (page * limit > MAX_ROW) throw badUserInput('page', 'is too large for this limit');
}

/** Makes sure that a page or a range holds `min` to 200 members. */
export function checkSize(argument: string, size: number, min = 1): void {
  if (size < min || size > MAX_PAGE_SIZE) throw badUserInput(argument, `must lie between ${min} and ${MAX_PAGE_SIZE}`);
}

function refuse(argument: string, problem: Problem | undefined): void {
  if (problem) throw badUserInput(argument, problem.message);
}
