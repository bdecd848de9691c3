import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { suggestionList } from 'graphql/jsutils/suggestionList.js';
import * as z from 'zod';
import { reasonOf } from '../errors.ts';
import { readFile } from './forms.ts';
import { ALSO_IN_FILES, VARIABLES, type Values } from './variables.ts';

/** A configuration that cannot be used. Its message has one line for each problem. */
export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(['The configuration cannot be used:', ...problems].join('\n  '));
  }
}

/**
 * Reads every variable. An empty one counts as absent. One that cannot be used gets its default, so that the others can be
 * checked too; `problems` then has a line that begins with its name. Removes white space around `OTEL_*` in `env` itself.
 */
export function readEnvironment(env: NodeJS.ProcessEnv) {
  // White space around a value comes from a file or a template, and is never meant.
  const given: NodeJS.ProcessEnv = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value?.trim() ? [[name, value.trim()]] : [])),
  );
  // The SDK of OpenTelemetry reads these from `process.env` itself.
  for (const name of Object.keys(env)) if (name.startsWith('OTEL_')) env[name] = given[name] ?? '';
  // Kubernetes sets it so for a service with the name `management`.
  if (given['MANAGEMENT_PORT']?.startsWith('tcp://')) given['MANAGEMENT_PORT'] = undefined;
  // As curl, and the platforms that set them in both forms.
  for (const name of PROXIES) given[name] = env[name.toLowerCase()]?.trim() || given[name];
  const problems = [...readFiles(given), ...mend(given)];
  const unreplaced = Object.keys(VARIABLES.shape).filter((name) => isPlaceholder(name, given[name] ?? ''));
  problems.push(...unreplaced.map((name) => `${name}: has a placeholder that was not replaced by its value`));
  const objects = ALSO_IN_FILES.filter((name) => OF_TEXT.test(name) && /^\{\s*".*\}$/s.test(given[name] ?? ''));
  problems.push(...objects.map((name) => `${name}: is JSON, as a whole secret of AWS Secrets Manager; name its key`));
  const without = (names: string[]) => ({ ...given, ...Object.fromEntries(names.map((name) => [name, undefined])) });
  const { data, error } = VARIABLES.safeParse(without([...unreplaced, ...objects]));
  if (data) return { values: data, given, problems };
  // The place in a JSON text. In a list, the text of the item tells it.
  const { fieldErrors } = z.flattenError(error, ({ path: [, ...at], message }) =>
    at.length > 1 ? `${at.join('.')}: ${message}` : message,
  );
  const bad = Object.entries(fieldErrors);
  for (const [name, messages] of bad) problems.push(`${name}: ${messages.join('; ')}${shown(name, given[name])}`);
  const unusable = [...unreplaced, ...objects, ...bad.map(([name]) => name)];
  return { values: VARIABLES.parse(without(unusable)), given, problems };
}

/** Tells two secrets apart, and shows neither: six hexadecimal digits. */
export const fingerprint = (secret: string) => hash('sha256', secret).slice(0, 6);

/** One line for each setting: its value and where it came from. Of a secret, the first six digits of its SHA-256. */
export function describeEnvironment(given: NodeJS.ProcessEnv): string[] {
  return Object.keys(VARIABLES.shape).map((name) => {
    const text = given[name];
    if (text === undefined) return `${name}: default`;
    const source = given[`${name}_FILE`] && ALSO_IN_FILES.includes(name) ? `${name}_FILE` : 'variable';
    return `${name}: ${mayHide(name, text) ? textOf(name, text) : JSON.stringify(textOf(name, text))} (${source})`;
  });
}

/** What tells a value from another and shows no secret. */
const textOf = (name: string, text: string) =>
  mayHide(name, text) ? `[sha256 ${fingerprint(text)}]` : text.slice(0, 200);

/** The settings that are not the default, by their names, and what tells a secret from another. */
export function summarize(values: Values, given: NodeJS.ProcessEnv) {
  const secrets = ALSO_IN_FILES.flatMap((name) => (given[name] ? [[name, fingerprint(given[name])] as const] : []));
  const settings = Object.entries(VARIABLES.shape).flatMap(([name, form]) => {
    // The JSON of a secret is always `{}`: it cannot be compared with that of a default.
    const json = ALSO_IN_FILES.includes(name) ? undefined : JSON.stringify(Object(values)[name]);
    const isDefault = json !== undefined && json === JSON.stringify(form.parse(undefined));
    return given[name] === undefined || isDefault ? [] : [[name, textOf(name, given[name])] as const];
  });
  return { settings: Object.fromEntries(settings), fingerprints: Object.fromEntries(secrets) };
}

/** What the names of settings begin with that no other program on a machine is likely to have. */
const FAMILIES = /^(?:REST|JWT|MAX|REDIS|PERSISTED|CORS|OPERATION|MANAGEMENT|KEEP_ALIVE|SHUTDOWN|TRUST|CLIENT_TOKENS)_/;
/** Kubernetes sets these for each service of the namespace, such as one with the name `redis`. */
const OF_KUBERNETES = /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_(?:TCP|UDP)(?:_(?:ADDR|PORT|PROTO))?)?)$/;

/** What platforms with a Redis of their own set beside `REDIS_URL`, such as REDIS_HOST and REDIS_TLS_URL. */
const OF_PLATFORMS = /^REDIS_(?!URL|TIMEOUT|CA|CLIENT)/;

/** A line for each given variable that looks like a setting and is none. Names are percent-encoded: some characters are invisible. */
export function misspelt(given: NodeJS.ProcessEnv): string[] {
  const known = [...Object.keys(VARIABLES.shape), ...ALSO_IN_FILES.map((name) => `${name}_FILE`)];
  const accepted = [...known, ...PROXIES.map((name) => name.toLowerCase())];
  const others = Object.keys(given).filter((name) => !accepted.includes(name));
  const long = known.filter(({ length }) => length > 6);
  const bySpelling = new Map(long.flatMap((name) => spellings(name).map((one) => [one, name])));
  return others.flatMap((name) => {
    const upper = name.trim().toUpperCase().replaceAll('-', '_');
    const [near] = spellings(upper).flatMap((one) => bySpelling.get(one) ?? []);
    if (near === upper && given[near]) return []; // The setting is set too, as by `env` beside `envFrom`.
    if (!near && (!FAMILIES.test(name) || OF_KUBERNETES.test(name))) return [];
    if (given['REDIS_URL'] && OF_PLATFORMS.test(name)) return [];
    // Of the same family: REST_URL is not REDIS_URL.
    const [family = ''] = FAMILIES.exec(name) ?? [];
    const kin = known.filter((one) => one.startsWith(family)).map((one) => one.slice(family.length));
    const [other] = suggestionList(name.slice(family.length), kin);
    const meant = near ?? (other && family + other);
    return `${encodeURI(name)}: is no setting${meant ? `; did you mean ${meant}?` : '; docs/configuration.md has all of them'}`;
  });
}

/** A name, and what is left of it without one of its letters: two names that share one of these are one mistake apart. */
const spellings = (name: string) => [name, ...Array.from(name, (_, at) => name.slice(0, at) + name.slice(at + 1))];

/** Replaces each `NAME_FILE` by the text of its file, without the white space around it. Returns what is wrong. */
function readFiles(given: NodeJS.ProcessEnv): string[] {
  return ALSO_IN_FILES.flatMap((name) => {
    const path = given[`${name}_FILE`];
    if (!path) return [];
    if (given[name]) return `${name}, ${name}_FILE: set one of them, not both`;
    try {
      const bytes = readFile(path);
      if (!isUtf8(bytes)) return `${name}_FILE: the file is no text in UTF-8`;
      given[name] = bytes.toString().trim() || undefined;
      return given[name] === undefined ? `${name}_FILE: the file is empty` : [];
    } catch (error) {
      return `${name}_FILE: the file cannot be read (${reasonOf(error)})`;
    }
  });
}

/** Reports what surrounds a value by mistake, and goes on without it. */
function mend(given: NodeJS.ProcessEnv): string[] {
  const names = Object.keys(VARIABLES.shape).flatMap((name) =>
    given[name] ? Object.entries(AROUND).map((one) => [name, ...one] as const) : [],
  );
  return names.flatMap(([name, problem, find]) => {
    const meant = find(given[name] ?? '', name);
    if (meant === undefined) return [];
    given[name] = meant.trim() || undefined;
    return `${name}: ${problem}`;
  });
}

const IN_ENV_FILE = 'which would be a part of it, as `docker run --env-file` reads it';
/** What can surround a value: the problem that is reported, and what finds the value in the text. */
const AROUND: Record<string, (text: string, name: string) => string | undefined> = {
  'begins with its own name; leave out what is before the value': (text, name) =>
    new RegExp(`^(?:export\\s+)?${name}\\s*[=:](.*)$`, 's').exec(text)?.[1],
  // In a secret, or in a path, it can be a part.
  [`has a comment, ${IN_ENV_FILE}; put it on a line of its own`]: (text, name) =>
    ALSO_IN_FILES.includes(name) || name.endsWith('_FILE') ? undefined : /^(|.*?\s)#.*$/s.exec(text)?.[1],
  // Also typographic ones. Around PEM they do not matter.
  [`is in quotation marks, ${IN_ENV_FILE}; leave them out`]: (text) =>
    /^(?:(["'`])(?!-----BEGIN)(.*)\1|\u201c(.*)\u201d)$/s.exec(text)?.slice(2).join(''),
};
/** One of the two is JSON; the other is refused as JSON anyway. */
const OF_TEXT = /^(?!JWT_SCOPE_MAP|JWT_PUBLIC_KEY)/;
/** What stands for a secret: `null`, the mask of a log, or a reference to a secret store. */
const NO_SECRET =
  /^(?:null|None|\*{3,}|\[(?:MASKED|REDACTED)\]|vault:[\w/-]+#\w+|secretref:.+|(?:sm|berglas|ref\+\w+):\/\/.+|projects\/[^/]+\/secrets\/[^/]+(?:\/versions\/\w+)?)$/;
/** A name in a template of a shell, of Kubernetes, Helm, a pipeline or a manual, also inside a URL; a reference to a store of secrets. */
const PLACEHOLDER =
  /^(?:\$\{.*\}|\$\([^()]*\)|\$[A-Z]+(?:_[A-Z]+)*|%[A-Z_]+%|#\{.*\}#?|__[A-Z_]+__|\{\{.*\}\}|<[\w -]+>|undefined|@Microsoft\.KeyVault\(.*\)|ENC\[.*\]|op:\/\/.*|arn:aws.*|\w+:\/\/.*(?:\$\{\w+\}|\$\(\w+\)|(?<=[/.-])\{\{?[\w .-]+\}|(?<=[/:@.-])<[\w -]+>).*)$/s;

const isPlaceholder = (name: string, value: string) =>
  PLACEHOLDER.test(value) || (ALSO_IN_FILES.includes(name) && NO_SECRET.test(value));

/** Whether a value is a secret, or a URL that can hold one: in its user or its query. */
const mayHide = (name: string, value: string) => ALSO_IN_FILES.includes(name) || /[@?#]/.test(value);

/** Some set a private key itself in place of its path. */
const shown = (name: string, value = '') =>
  mayHide(name, value) || name.endsWith('_KEY_FILE') ? '' : ` (given: ${JSON.stringify(value)})`;

/** Their names in lower case count too, and more. */
const PROXIES = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'];
