import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import type { ReferenceConfig } from './config.ts';
import { ApiError, OperatorError } from './errors.ts';
import { OPERATIONS } from './routes/operator.ts';
import type { Service } from './routes/service.ts';
import { openService } from './serve.ts';
import { checkDatabase } from './store/check.ts';
import { developmentContactKey } from './store/contact-key.ts';
import { reasonOf } from './store/store.ts';
import { exportLines, importLines } from './store/transfer.ts';

type Path = keyof typeof OPERATIONS;

/** Runs a command of the operator and prints lines of JSON; false if there is no such command. */
export async function runCommand(
  config: ReferenceConfig,
  args: readonly string[],
  print: (line: string) => void,
): Promise<boolean> {
  const [name, first, second = '', third = ''] = args;
  const isCommand = (words: number, ...expected: (string | undefined)[]) =>
    args.length === words && expected.every((word, index) => word === args[index]);
  const key = () => config.contactHashKey ?? developmentContactKey(config.dataDir);
  const run = async (work: Promise<object>) => {
    print(JSON.stringify(await work));
    return true;
  };
  if (isCommand(1, 'backup')) return run(operate(config, '/backup', {}));
  if (isCommand(4, 'coupons', 'give')) {
    return run(operate(config, '/coupons', { playerUniqueId: second, group: third }));
  }
  if (isCommand(3, 'coupons', 'use')) return run(operate(config, '/coupons/use', { code: second }));
  if (name === 'restore' && first === '--check' && args.length <= 3) {
    return run(checkDatabase({ databaseUrl: config.databaseUrl, file: args[2] }, key()));
  }
  if (isCommand(1, 'import')) {
    return run(inDatabase(openService(config, log()), ({ store }) => importLines(store, process.stdin, key())));
  }
  if (isCommand(1, 'export')) {
    await inDatabase(openExisting(config), ({ store }) => exportLines(store, print));
    return true;
  }
  return false;
}

/** The running service does it; without a port of its operator, this process, which opens the database. */
async function operate(config: ReferenceConfig, path: Path, body: object): Promise<object> {
  if (config.operatorPort !== undefined) return ask(config, path, body);
  return inDatabase<object>(openExisting(config), (service) => OPERATIONS[path](service, body));
}

async function ask({ operatorPort, headers }: ReferenceConfig, path: Path, body: object): Promise<object> {
  const url = `http://127.0.0.1:${operatorPort}`;
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers() },
    body: JSON.stringify(body),
  }).catch((error: Error) => {
    throw new OperatorError(`No service answers at ${url} (REFERENCE_OPERATOR_PORT): ${reasonOf(error.cause)}`);
  });
  const answer = await response.json();
  if (!response.ok) throw new OperatorError(answer.message);
  return answer;
}

/** Only an import makes a database. */
async function openExisting(config: ReferenceConfig): Promise<Service> {
  const file = join(config.dataDir, 'reference.db');
  if (config.databaseUrl === undefined && !existsSync(file)) throw new OperatorError(`There is no database ${file}.`);
  return openService(config, log());
}

const log = () => pino({ level: 'warn' }, pino.destination(2));

async function inDatabase<Result>(
  opening: Promise<Service>,
  work: (service: Service) => Promise<Result>,
): Promise<Result> {
  const service = await opening;
  try {
    return await work(service);
  } catch (error) {
    throw error instanceof ApiError ? new OperatorError(error.message) : error;
  } finally {
    await service.store.close();
  }
}
