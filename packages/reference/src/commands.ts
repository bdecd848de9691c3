import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import type { ReferenceConfig } from './config.ts';
import { ApiError, OperatorError } from './errors.ts';
import { OPERATIONS } from './routes/operator.ts';
import type { Service } from './routes/service.ts';
import { openService } from './serve.ts';
import { checkDatabase } from './store/check.ts';
import { contactKeyOf } from './store/contact-key.ts';
import { reasonOf } from './store/store.ts';
import { exportLines, importLines } from './store/transfer.ts';

/** Returns what is printed at the end, as JSON. */
type Run = (config: ReferenceConfig, args: (string | undefined)[]) => Promise<unknown>;

/** The commands; words in upper case are arguments, those in brackets may be left out. */
const COMMANDS: Record<string, [what: string, run: Run]> = {
  backup: ['writes a backup of SQLite to DATA_DIR/backups/', (config) => operate(config, '/backup', {})],
  'coupons give PLAYER GROUP': [
    'gives a coupon',
    (config, [playerUniqueId, group]) => operate(config, '/coupons', { playerUniqueId, group }),
  ],
  'coupons use CODE': ['counts a use of a coupon', (config, [code]) => operate(config, '/coupons/use', { code })],
  'restore --check [BACKUP]': [
    'checks a backup of SQLite, or the database of DATABASE_URL',
    (config, [file]) => checkDatabase({ databaseUrl: config.databaseUrl, file }, contactKeyOf(config)),
  ],
  export: [
    'prints all data as lines of JSON',
    (config) => inDatabase(openExisting(config, false), ({ store }) => exportLines(store, console.log)),
  ],
  import: [
    'reads such lines from stdin into an empty database',
    (config) =>
      inDatabase(openService(config, log(), { isLimited: false }), ({ store }) =>
        importLines(store, process.stdin, contactKeyOf(config)),
      ),
  ],
};

export const USAGE = [
  ...['', '--demo'].map((flag) => `node main.js ${flag}`.padEnd(38)).map((line) => `${line} starts the service`),
  ...Object.entries(COMMANDS).map(([name, [what]]) => `node main.js ${name}`.padEnd(39) + what),
  '\nWith --demo, an empty store gets demo players. With REFERENCE_OPERATOR_PORT, backup and coupons ask the service that',
  'runs on this machine.',
].join('\n');

export function commandOf(args: readonly string[]): ((config: ReferenceConfig) => ReturnType<Run>) | undefined {
  const isArgument = (word = '') => /^\[?[A-Z]+\]?$/.test(word);
  for (const [name, [, run]] of Object.entries(COMMANDS)) {
    const words = name.split(' ');
    const isMatch = words.every((word, index) =>
      args[index] === undefined ? word.startsWith('[') : isArgument(word) || word === args[index],
    );
    const given = args.filter((_, index) => isArgument(words[index]));
    if (isMatch && args.length <= words.length) return (config) => run(config, given);
  }
  return undefined;
}

/** The running service does it; without a port of its operator, this process, which opens the database. */
async function operate(config: ReferenceConfig, path: keyof typeof OPERATIONS, body: object): Promise<object> {
  if (config.operatorPort === undefined) {
    return inDatabase<object>(openExisting(config), (service) => OPERATIONS[path](service, body));
  }
  const url = `http://127.0.0.1:${config.operatorPort}`;
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...config.headers() },
    body: JSON.stringify(body),
  }).catch((error: Error) => {
    throw new OperatorError(`No service answers at ${url} (REFERENCE_OPERATOR_PORT): ${reasonOf(error.cause)}`);
  });
  const read = await response.json().catch(() => {
    const what = `it responded with the status ${response.status}, without JSON`;
    throw new OperatorError(`Another program listens at ${url} (REFERENCE_OPERATOR_PORT): ${what}.`);
  });
  const answer: object = Object(read);
  if (!response.ok) throw new OperatorError('message' in answer ? String(answer.message) : response.statusText);
  return answer;
}

/** Only an import makes a database. */
async function openExisting(config: ReferenceConfig, isLimited = true): Promise<Service> {
  const file = join(config.dataDir, 'reference.db');
  if (config.databaseUrl === undefined && !existsSync(file)) throw new OperatorError(`There is no database ${file}.`);
  return openService(config, log(), { isLimited });
}

const log = () => pino({ level: 'warn' }, pino.destination(2));

async function inDatabase<Result>(opening: Promise<Service>, work: (service: Service) => Promise<Result>) {
  const service = await opening;
  try {
    return await work(service);
  } catch (error) {
    throw error instanceof ApiError ? new OperatorError(error.message) : error;
  } finally {
    await service.store.close();
  }
}
