import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { atEnd } from './at-end.ts';
import { assertNoLeak } from './leaks.ts';
import { SETTINGS } from './upstream.ts';

export type GatewayProcess = Awaited<ReturnType<typeof startProcess>>;

const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/**
 * The gateway as a deployment runs it: the compiled program in a process of its own, on ports of its own. Resolves when it
 * is ready. Its log must have the level info.
 */
export async function startProcess(...given: Parameters<typeof spawnProcess>) {
  const { child, ended, output, written } = spawnProcess(...given);
  atEnd(() => {
    child.kill('SIGKILL');
    return ended;
  });
  /** The log so far. */
  const log = () =>
    output()
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line));
  /** Resolves to the first line of the log that fits, once it is there. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into lines of every shape.
  const logged = async (fits: (line: any) => boolean) => {
    await Promise.race([written(() => log().some(fits)), ended]);
    const line = log().find(fits);
    if (!line) throw new Error(`No such line was logged:\n${output()}`);
    return line;
  };
  const { url, management }: Record<'url' | 'management', string> = await logged(({ msg }) => msg === 'ready');
  const page = async (path: string) => {
    const response = await fetch(management + path);
    return { status: response.status, text: await response.text() };
  };
  /** Asks for a page until what it answers fits. */
  const pageWhen = async (path: string, fits: (answer: Awaited<ReturnType<typeof page>>) => boolean) => {
    for (const end = performance.now() + 30_000; ; ) {
      const answer = await page(path);
      if (fits(answer)) return answer;
      if (performance.now() > end) throw new Error(`${path} never fitted:\n${answer.text}`);
    }
  };
  return { child, url, management, output, ended, log, logged, page, pageWhen };
}

/**
 * Starts the compiled program and waits for nothing. `limit` is a shell command that the process runs first, such as
 * `ulimit -n 200`; `more` are arguments of the program.
 */
export function spawnProcess(
  env: Record<string, string>,
  nodeOptions: readonly string[] = [],
  program = PROGRAM,
  limit?: string,
  more: readonly string[] = [],
) {
  const limited = limit === undefined ? [] : ['sh', '-c', `${limit} && exec "$0" "$@"`];
  const [command = '', ...args] = [...limited, process.execPath, ...nodeOptions, program, ...more];
  const child = spawn(command, args, {
    env: { ...SETTINGS, MANAGEMENT_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const chunks = new EventEmitter();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      chunks.emit('chunk');
    });
  }
  return {
    child,
    /** Everything written to stdout and stderr so far. */
    output: () => text,
    /** Resolves to how the process ended, once everything it wrote has arrived. */
    ended: once(child, 'close').then(([code, signal]): { code: number | null; signal: string | null } => {
      assertNoLeak(text);
      return { code, signal };
    }),
    /** Resolves when what was written fits. */
    async written(fits: () => boolean) {
      while (!fits()) await once(chunks, 'chunk');
    },
  };
}
