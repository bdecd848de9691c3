/* What the program does in place of serving: `--check`, `--probe` and `--name ID`. Nothing listens, and no secret is printed. */
import { getHeapStatistics } from 'node:v8';
import packageJson from '../../package.json' with { type: 'json' };
import type { Config } from '../config/config.ts';
import { createSchema } from '../graphql/schema.ts';
import { readManifest } from '../persisted-operations/manifest.ts';
import { SCHEMA_DIRECTORY } from '../serve.ts';
import { createPseudonyms } from '../telemetry/observe.ts';

const MB = 1_048_576;

export class UsageError extends Error {}

const USABLE = 'The configuration can be used.';
const FINE = `${USABLE}\nEverything that is configured responds as it should.`;

const USAGE =
  'Usage: node dist/main.js [--check | --probe [LANGUAGE …] | --name ID]; without a command the gateway starts.';

/**
 * The output of the command in `args`, and the mistakes that it found; undefined when there is none, and the gateway starts.
 * Throws a ConfigError for a manifest that cannot be used, and a UsageError for arguments that are no command.
 */
export async function outputOf(args: readonly string[], config: Config): Promise<[string, string[]] | undefined> {
  const [command, value, ...more] = args;
  if (command === undefined) return undefined;
  if (command === '--check' && value === undefined) return [`${check(config).join('\n')}\n${USABLE}`, []];
  if (command === '--name' && value && more.length === 0) return [createPseudonyms(config.logKey)(value), []];
  if (command !== '--probe') throw new UsageError(USAGE);
  // Settings with their default are left out.
  const text = check(config).filter((line) => !line.endsWith(': default'));
  const problems = await (await import('./probe.ts')).probe(config, args.slice(1));
  return [[...text, ...(problems.length > 0 ? [] : [FINE])].join('\n'), problems];
}

/** The version, each setting with where it came from, what the files hold, and the memory. */
function check(config: Config): string[] {
  const files = config.PERSISTED_OPERATIONS_FILE;
  const { schema } = createSchema(SCHEMA_DIRECTORY, config.FEDERATION, config.PLAYER_IDS === 'personal');
  const operations = files.length > 0 && readManifest(files, { schema, maxTokens: config.MAX_TOKENS }).fileOf.size;
  const { heapMb, memoryMb, warnings } = memoryLimits();
  return [
    `referral-gateway ${packageJson.version}, Node ${process.version}`,
    ...config.describe(),
    `client tokens: ${config.CLIENT_TOKENS_FILE?.length ?? 'none'}`,
    `operations in manifests: ${operations || 'none'}`,
    `heap limit: ${heapMb} MB; memory of the container: ${memoryMb ? `${memoryMb} MB` : 'no limit'}`,
    ...[...config.warnings, ...warnings].map((warning) => `WARNING: ${warning}`),
  ];
}

/** The heap limit, and the memory of the container where it has a limit; a warning when the second ends the process first. */
export function memoryLimits() {
  const heapMb = Math.round(getHeapStatistics().heap_size_limit / MB);
  const limit = Math.round(process.constrainedMemory() / MB);
  // Without a limit, Linux reports a number that no machine has.
  const memoryMb = limit > 0 && limit < 2 ** 30 ? limit : undefined;
  const option = `NODE_OPTIONS=--max-old-space-size=${Math.round(limit * 0.6)}`;
  const isAbove = memoryMb !== undefined && heapMb > memoryMb * 0.9;
  const warnings = isAbove ? [`the heap limit is above 90 % of the memory of the container: set ${option}`] : [];
  return { heapMb, memoryMb, warnings };
}
