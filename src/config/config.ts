import { type AuthConfig, readAuth } from './auth.ts';
import { conflictsOf, DEVELOPMENT_KEYS, productionProblems } from './conflicts.ts';
import { ConfigError, readEnvironment } from './environment.ts';
import { misspelledNames } from './misspelled.ts';
import { Secret } from './secret.ts';
import { SETTINGS, type Settings } from './settings.ts';

/** The configuration of one gateway. */
export interface Config extends Readonly<Omit<Settings, 'auth' | 'rest'>> {
  readonly production: boolean;
  readonly auth: AuthConfig;
  readonly rest: Readonly<Settings['rest'] & { apiKey: Secret; secretKey: Secret }>;
  /** Warnings about the environment, one line each. They do not prevent the start. */
  readonly warnings: readonly string[];
}

/**
 * Reads every setting of the gateway. In production, unsafe or missing settings are errors. Throws one ConfigError that
 * names every variable that cannot be used. It never shows the value of a secret.
 */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const { values, given, problems } = readEnvironment(env, SETTINGS);
  const { rest, operationTimeoutMs } = values;
  const production = values.environment === 'production';
  const auth = readAuth(values.auth, problems);
  if (production) problems.push(...productionProblems(values, auth));
  problems.push(...conflictsOf(values, auth, given));
  if (problems.length > 0) throw new ConfigError(problems);

  return deepFreeze({
    ...values,
    production,
    auth,
    rest: {
      ...rest,
      timeoutMs: Math.min(rest.timeoutMs, operationTimeoutMs),
      apiKey: rest.apiKey ?? new Secret(DEVELOPMENT_KEYS.REST_API_KEY),
      secretKey: rest.secretKey ?? new Secret(DEVELOPMENT_KEYS.REST_SECRET_KEY),
    },
    warnings: misspelledNames(Object.keys(env), SETTINGS),
  });
}

/** Freezes objects and lists, but not URLs. A frozen `Secret` can still change: its fields are private. */
function deepFreeze<Value extends object>(value: Value): Value {
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null && !(member instanceof URL)) deepFreeze(member);
  }
  return Object.freeze(value);
}
