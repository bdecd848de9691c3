import { readFileSync } from 'node:fs';
import { reasonOf } from '../errors.ts';
import { ALSO_IN_FILES, VARIABLES, type Values } from './variables.ts';

/** A configuration that cannot be used. Its message has one line for each problem. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(['The configuration cannot be used:', ...problems.map((problem) => `  ${problem}`)].join('\n'));
    this.name = 'ConfigError';
  }
}

/** The variables that are set, by their names. */
export type Given = ReadonlyMap<string, string>;

/**
 * Reads every variable. An empty one counts as absent. One that cannot be used gets its default, so that the others can be
 * checked too; `problems` then has a line that begins with its name.
 */
export function readEnvironment(env: NodeJS.ProcessEnv): { values: Values; given: Given; problems: string[] } {
  const given = new Map(Object.entries(env).flatMap(([name, value]) => (value ? [[name, value] as const] : [])));
  const removed = REMOVED.filter(([name]) => given.has(name));
  const problems = [...removed.map(([name, instead]) => `${name}: was removed; ${instead}`), ...readFiles(given)];
  const parsed = VARIABLES.safeParse(Object.fromEntries(given));
  if (parsed.success) return { values: parsed.data, given, problems };
  const bad = new Map(parsed.error.issues.map(({ path: [name], message }) => [String(name), message]));
  for (const [name, message] of bad) problems.push(`${name}: ${message}${shown(name, given.get(name) ?? '')}`);
  const usable = [...given].filter(([name]) => !bad.has(name));
  return { values: VARIABLES.parse(Object.fromEntries(usable)), given, problems };
}

/** Replaces each `NAME_FILE` by the text of its file, without white space at its end. Returns what is wrong. */
function readFiles(given: Map<string, string>): string[] {
  return ALSO_IN_FILES.flatMap((name) => {
    const path = given.get(`${name}_FILE`);
    if (!path) return [];
    if (given.has(name)) return `${name}, ${name}_FILE: set one of them, not both`;
    try {
      const text = readFileSync(path, 'utf8').trimEnd();
      if (text === '') throw new Error('it is empty');
      given.set(name, text);
      return [];
    } catch (error) {
      return `${name}_FILE: the file cannot be read (${reasonOf(error)})`;
    }
  });
}

/** The given value for an error message; nothing for a secret, or where a URL can hold one: its user and query. */
function shown(name: string, value: string): string {
  const isSecret = ALSO_IN_FILES.some((one) => one === name) || /[@?#]/.test(value);
  return isSecret ? '' : ` (given: ${JSON.stringify(value)})`;
}

const AT_THE_EDGE = 'it is fixed now; set such a limit at the ingress (deploy/nginx.conf)';
const BY_COMPLEXITY = 'it is fixed now; MAX_COMPLEXITY and MAX_TOKENS limit an operation';

/** Variables of earlier versions, and what to do instead. One that is set is an error: ignored, it would surprise. */
const REMOVED = Object.entries({
  WORKERS: 'start several replicas instead, as deploy/compose.yaml does',
  READ_CACHE_TTL_MS: 'nothing is cached between operations any more',
  REST_QUEUE_MS: 'OPERATION_TIMEOUT_MS limits the wait for a connection',
  ALLOW_ANONYMOUS_TYPENAME: 'ask /healthz or /readyz on MANAGEMENT_PORT',
  HEADERS_TIMEOUT_MS: AT_THE_EDGE,
  REQUEST_TIMEOUT_MS: AT_THE_EDGE,
  MAX_CONNECTIONS: AT_THE_EDGE,
  MAX_HEAP_PERCENT: 'it is fixed now',
  MAX_EVENT_LOOP_DELAY_MS: 'it is fixed now',
  MAX_ALIASES: BY_COMPLEXITY,
  MAX_ALIAS_LENGTH: BY_COMPLEXITY,
  MAX_ROOT_FIELDS: BY_COMPLEXITY,
  MAX_DIRECTIVES: BY_COMPLEXITY,
});
