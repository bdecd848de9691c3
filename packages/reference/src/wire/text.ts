/** The longest identifier of a player, in bytes of UTF-8. */
const MAX_ID_BYTES = 1_024;
/** The longest name of an event, in characters. */
const MAX_NAME_LENGTH = 256;

// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for control characters.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
/** They change the order in which the characters around them are shown, so that two different ids can look the same. */
const BIDIRECTIONAL_CONTROL = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
/** Escapes that matter in a path: `.`, `/`, `\` and `%` itself. */
const ESCAPE = /%(2e|2f|5c|3b|25)/gi;

/** Why a text cannot be stored unchanged, or undefined. SQLite ends text at NUL and replaces unpaired surrogates. */
export function textProblem(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain the NUL character';
  if (!text.isWellFormed()) return 'must not contain an unpaired surrogate';
  return undefined;
}

/** Why a text cannot be the name of an event, or undefined. */
export function nameProblem(name: string): string | undefined {
  if (name.length > MAX_NAME_LENGTH) return `must have at most ${MAX_NAME_LENGTH} characters`;
  return identifierProblem(name);
}

/** Why a text cannot be the identifier of a player, or undefined. */
export function playerIdProblem(id: string): string | undefined {
  if (Buffer.byteLength(id) > MAX_ID_BYTES) return `must have at most ${MAX_ID_BYTES} bytes of UTF-8`;
  const once = unescaped(id);
  if ([id, once, unescaped(once)].some(hasDotPart)) return 'must not have "." or ".." as a part between slashes';
  if (BIDIRECTIONAL_CONTROL.test(id)) return 'must not contain bidirectional control characters';
  return identifierProblem(id);
}

/**
 * Whether a part of the path would be resolved by a proxy that normalises URLs: the id `../transactions/x` could then
 * reach another endpoint. Such proxies also decode, some of them twice, and some servers drop what follows a semicolon
 * first.
 */
function hasDotPart(path: string): boolean {
  return path.split(/[/\\]/).some((part) => /^\.{1,2}(?:;|$)/.test(part));
}

function unescaped(text: string): string {
  return text.replace(ESCAPE, (_all, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

function identifierProblem(text: string): string | undefined {
  if (text.trim() === '') return 'must not be empty or white space alone';
  if (CONTROL.test(text)) return 'must not contain control characters';
  return textProblem(text);
}
