/** The longest identifier of a player or name of an event, in characters. */
const MAX_NAME_LENGTH = 256;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Why a text cannot be stored as it is, or undefined when it can. SQLite would end it at NUL and change a half pair. */
export function textProblem(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain the NUL character';
  if (!text.isWellFormed()) return 'must not contain half of a surrogate pair';
  return undefined;
}

/** Why a text cannot name an event, or undefined when it can. */
export function nameProblem(name: string): string | undefined {
  if (name.trim() === '') return 'must not be empty';
  if (name.length > MAX_NAME_LENGTH) return `must have at most ${MAX_NAME_LENGTH} characters`;
  if (CONTROL.test(name)) return 'must not contain control characters';
  return textProblem(name);
}

/** Why a text cannot identify a player, or undefined when it can. URLs cannot carry `.` and `..` as part of a path. */
export function playerIdProblem(id: string): string | undefined {
  return id === '.' || id === '..' ? 'must not be "." or ".."' : nameProblem(id);
}
