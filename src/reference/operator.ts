import * as z from 'zod';
import type { ReferenceConfig } from './config.ts';

const USAGE = `Usage:
  npm run reference -- coupon issue <playerUniqueId> <group>   issues a coupon of the group and prints its code
  npm run reference -- coupon use <code>                       counts one use of the coupon`;

/** The command cannot be carried out; the message says why. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/**
 * Carries out an operator's command by asking the running service, which alone has the store, and gives what to print.
 * Throws a CommandError when the command is not understood, refused, or no service answers.
 */
export async function runCommand(words: readonly string[], config: ReferenceConfig): Promise<string> {
  const [noun, verb, ...values] = words;
  if (noun === 'coupon' && verb === 'issue' && values.length === 2) {
    const [playerUniqueId, group] = values;
    return ask(config, 'coupon/issue', { playerUniqueId, group });
  }
  if (noun === 'coupon' && verb === 'use' && values.length === 1) {
    return ask(config, 'coupon/use', { code: values[0] });
  }
  throw new CommandError(USAGE);
}

/** What the service says, or what something else that listens there says. */
function reasonOf(text: string): string {
  try {
    return REFUSAL.parse(JSON.parse(text)).message;
  } catch {
    return text;
  }
}

const REFUSAL = z.object({ message: z.string() });

async function ask(config: ReferenceConfig, path: string, body: object): Promise<string> {
  const base = `http://${config.host}:${config.port}`;
  const { apiKey, secretKey } = config.keys;
  const answer = await fetch(`${base}/operator/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', apikey: apiKey.reveal(), secretkey: secretKey.reveal() },
    body: JSON.stringify(body),
  }).catch((cause: unknown) => {
    throw new CommandError(
      `No reference service answers at ${base}. Start it first (npm start, or npm run reference), or name its place in REFERENCE_HOST and REFERENCE_PORT.`,
      { cause },
    );
  });
  const text = await answer.text();
  if (!answer.ok) throw new CommandError(`Refused: ${reasonOf(text)}`);
  return text;
}
