/*
 * The siege within the long tests: nothing ends the gateway, its memory stays within bounds, and what does not depend on the
 * machine's speed holds. How many answers a victim keeps is printed; `npm run siege` on a quiet machine judges it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const LONGEST_MS = 900_000;

test(
  'the gateway survives every attack',
  async () => {
    const program = fileURLToPath(new URL('siege.mjs', import.meta.url));
    const child = spawn(process.execPath, [program, '--survive'], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const [code] = await once(child, 'close');
    process.stdout.write(output);
    const broken = output.split('\n').filter((line) => line.startsWith('BROKEN'));
    expect({ code, broken }).toEqual({ code: 0, broken: [] });
  },
  LONGEST_MS,
);
