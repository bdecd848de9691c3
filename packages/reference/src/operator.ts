import * as z from 'zod';
import type { ReferenceConfig } from './config.ts';
import { OperatorError } from './errors.ts';

const USAGE = `Usage:
  npm run reference -- report <playerUniqueId>                 prints what happened to a player and why
  npm run reference -- coupon issue <playerUniqueId> <group>   issues a coupon of the group and prints its code
  npm run reference -- coupon use <code>                       counts one use of the coupon, prints the uses left
  npm run reference -- backup                                  copies the database file and prints the path of the copy`;

/**
 * Sends an operator's command to the running service and returns what to print. Throws an OperatorError if the command is
 * unknown or refused, or if no service answers.
 */
export async function runCommand(args: readonly string[], config: ReferenceConfig): Promise<string> {
  const [noun, verb, ...values] = args;
  if (noun === 'report' && verb !== undefined && values.length === 0) {
    return send(config, 'report', { playerUniqueId: verb });
  }
  if (noun === 'coupon' && verb === 'issue' && values.length === 2) {
    const [playerUniqueId, group] = values;
    return send(config, 'coupon/issue', { playerUniqueId, group });
  }
  if (noun === 'coupon' && verb === 'use' && values.length === 1) {
    return send(config, 'coupon/use', { code: values[0] });
  }
  if (noun === 'backup' && verb === undefined) return send(config, 'backup', {});
  throw new OperatorError(USAGE);
}

async function send({ management, keys }: ReferenceConfig, path: string, body: object): Promise<string> {
  const base = `http://${management.host}:${management.port}`;
  const response = await fetch(`${base}/operator/${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      apikey: keys.apiKey.reveal(),
      secretkey: keys.secretKey.reveal(),
    },
    body: JSON.stringify(body),
  }).catch((cause: unknown) => {
    throw new OperatorError(
      `No reference service answers at ${base}. Start it first (npm start, or npm run reference), or set REFERENCE_MANAGEMENT_HOST and REFERENCE_MANAGEMENT_PORT to where it is.`,
      { cause },
    );
  });
  const text = await response.text();
  if (!response.ok) throw new OperatorError(`Refused: ${messageOf(text)}`);
  return text;
}

const ERROR = z.object({ message: z.string() });

/** The message of the service, or the text of another program that listens there. */
function messageOf(text: string): string {
  try {
    return ERROR.parse(JSON.parse(text)).message;
  } catch {
    return text;
  }
}
