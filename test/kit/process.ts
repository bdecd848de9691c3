import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { assertNoLeak } from './leaks.ts';
import { API_KEY, SECRET_KEY } from './upstream.ts';

/** What a page of the management port answered. */
export interface Page {
  status: number;
  text: string;
}

/** The gateway as a deployment runs it: the compiled program in a process of its own, on ports of its own. */
export interface GatewayProcess {
  child: ChildProcess;
  url: string;
  management: string;
  /** Everything written to stdout and stderr so far. */
  output(): string;
  /** The log so far. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into lines of every shape.
  log(): any[];
  /** Resolves to the first line of the log that fits, once it is there. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into lines of every shape.
  logged(fits: (line: any) => boolean): Promise<any>;
  page(path: string): Promise<Page>;
  /** Asks for a page until what it answers fits. */
  pageWhen(path: string, fits: (page: Page) => boolean): Promise<Page>;
  /** Resolves to how the process ended, once everything it wrote has arrived. */
  ended: Promise<{ code: number | null; signal: string | null }>;
  /** Ends it for good, if it has not ended by itself. */
  kill(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** Starts the compiled program; resolves when it is ready. Its log must have the level info. */
export async function startProcess(
  env: Record<string, string>,
  nodeOptions: readonly string[] = [],
  program = PROGRAM,
): Promise<GatewayProcess> {
  const started = spawnProcess(env, nodeOptions, program);
  const { child, ended, output } = started;
  const log = () =>
    output()
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line));
  const ready = () => log().find(({ msg }) => msg === 'ready');
  await Promise.race([started.written(() => ready() !== undefined), ended]);
  const { url, management } = ready() ?? {};
  if (!url || !management) throw new Error(`The gateway did not start:\n${output()}`);
  const page = async (path: string) => {
    const response = await fetch(management + path);
    return { status: response.status, text: await response.text() };
  };
  return {
    child,
    url,
    management,
    output,
    ended,
    log,
    async logged(fits) {
      await Promise.race([started.written(() => log().some(fits)), ended]);
      const line = log().find(fits);
      if (!line) throw new Error(`No such line was logged:\n${output()}`);
      return line;
    },
    page,
    async pageWhen(path, fits) {
      const until = performance.now() + 30_000;
      for (;;) {
        const answer = await page(path);
        if (fits(answer)) return answer;
        if (performance.now() > until) throw new Error(`${path} never fitted:\n${answer.text}`);
      }
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Starts the compiled program and waits for nothing. */
export function spawnProcess(env: Record<string, string>, nodeOptions: readonly string[] = [], program = PROGRAM) {
  const child = spawn(process.execPath, [...nodeOptions, program], {
    env: { PORT: '0', MANAGEMENT_PORT: '0', REST_API_KEY: API_KEY, REST_SECRET_KEY: SECRET_KEY, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      for (const check of waiting) check();
    });
  }
  return {
    child,
    output: () => text,
    ended: once(child, 'close').then(([code, signal]) => {
      assertNoLeak(text);
      return { code, signal };
    }),
    /** Resolves when what was written fits. */
    written: (fits: () => boolean) =>
      new Promise<void>((resolve) => {
        const check = () => {
          if (!fits()) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
  };
}
