import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import type { ReferenceConfig } from './config.ts';
import { ApiError, OperatorError } from './errors.ts';
import { OPERATIONS } from './routes/operator.ts';
import { openService } from './serve.ts';
import { checkDatabase } from './store/check.ts';
import { developmentContactKey } from './store/contact-key.ts';
import { reasonOf } from './store/store.ts';

type Path = keyof typeof OPERATIONS;

/** Runs a command of the operator and returns what it prints; undefined if there is no such command. */
export async function runCommand(config: ReferenceConfig, args: readonly string[]): Promise<object | undefined> {
  const [name, first, second = '', third = ''] = args;
  const words = args.length;
  if (name === 'backup' && words === 1) return operate(config, '/backup', {});
  if (name === 'coupons' && first === 'give' && words === 4) {
    return operate(config, '/coupons', { playerUniqueId: second, group: third });
  }
  if (name === 'coupons' && first === 'use' && words === 3) return operate(config, '/coupons/use', { code: second });
  if (name === 'restore' && first === '--check' && words <= 3) {
    const contactHashKey = config.contactHashKey ?? developmentContactKey(config.dataDir);
    return checkDatabase({ databaseUrl: config.databaseUrl, file: args[2] }, contactHashKey);
  }
  return undefined;
}

/** The running service does it; without a port of its operator, this process, which opens the database. */
async function operate(config: ReferenceConfig, path: Path, body: object): Promise<object> {
  if (config.operatorPort !== undefined) return ask(config, path, body);
  const service = await openExisting(config);
  try {
    return await OPERATIONS[path](service, body);
  } catch (error) {
    throw error instanceof ApiError ? new OperatorError(error.message) : error;
  } finally {
    await service.store.close();
  }
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

/** A command makes no database. */
function openExisting(config: ReferenceConfig) {
  const file = join(config.dataDir, 'reference.db');
  if (config.databaseUrl === undefined && !existsSync(file)) throw new OperatorError(`There is no database ${file}.`);
  return openService(config, pino({ level: 'warn' }, pino.destination(2)));
}
