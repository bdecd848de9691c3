import type { Readable } from 'node:stream';
import { type DestinationStream, type Logger, pino } from 'pino';

/* docs/decisions/log-destination.md has the reasons for this file. */

/** Lines are written when they have this many bytes, less than a pipe holds (65,536), or every `FLUSH_EVERY_MS`. */
const MIN_WRITE_BYTES = 64_000;
const FLUSH_EVERY_MS = 100;
/** How many bytes are kept for a slow reader; further lines are dropped and counted. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** How long a flush waits for a slow reader at the end of the process or after a fatal line, in milliseconds. */
const MAX_FLUSH_MS = 2_000;

/**
 * A log of JSON lines. Only chosen fields are logged, so that lines contain no credentials or personal data. The redacted
 * names are a second protection. They have no wildcards: these would make a line three times as expensive.
 */
export function createLog(level: string, destination: DestinationStream): Logger {
  return pino(
    {
      level,
      serializers: { err: describeError },
      redact: {
        paths: ['authorization', 'cookie', 'headers', 'body', 'variables', 'email', 'mobile', 'mobileNumber'],
        censor: '[redacted]',
      },
    },
    destination,
  );
}

/** Resolves when all lines so far are written, or after two seconds. */
export function flushed(log: Logger): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, MAX_FLUSH_MS);
    // A flush during a write ends with that write; lines added meanwhile need a second flush.
    log.flush(() => log.flush(() => resolve()));
  });
}

/** Standard output, written by threads of Node's pool: a slow reader delays no request. No other process may have it. */
export function openStdout(): DestinationStream {
  // Reading `process.stdout` makes Node set a pipe to non-blocking. A write to a full pipe then fails and is repeated. A
  // blocking write would hold a thread, and the end of the process would wait for that thread.
  process.stdout.on('error', () => undefined);
  let flushUntil = Number.POSITIVE_INFINITY;
  let dropped = 0;
  const destination = pino.destination({
    dest: 1,
    sync: false,
    minLength: MIN_WRITE_BYTES,
    maxWrite: 2 * MIN_WRITE_BYTES,
    maxLength: MAX_WAITING_BYTES,
    periodicFlush: FLUSH_EVERY_MS,
    retryEAGAIN: () => performance.now() < flushUntil,
    contentMode: 'buffer',
  });
  // Not strings, which would be measured again for each new line.
  const write = destination.write.bind(destination) as (line: Buffer | string) => boolean;
  destination.write = (line) => write(Buffer.from(line));
  // The gateway continues when the pipe is closed or the disk is full.
  destination.on('error', () => undefined);
  destination.on('drop', () => {
    dropped += 1;
  });
  destination.on('drain', () => {
    if (dropped === 0) return;
    const line = { level: 40, time: Date.now(), pid: process.pid, lines: dropped, msg: 'log lines were dropped' };
    dropped = 0;
    destination.write(`${JSON.stringify(line)}\n`);
  });
  // SonicBoom's own `flushSync` repeats a write to a closed pipe forever.
  destination.flushSync = () => {
    flushUntil = performance.now() + MAX_FLUSH_MS;
    Object.assign(destination, { sync: true });
    destination.flush();
    destination.flush();
    Object.assign(destination, { sync: false });
    flushUntil = Number.POSITIVE_INFINITY;
  };
  return destination;
}

/** Writes the log lines of another process to a destination, only complete lines. */
export function forwardLines(from: Readable, destination: DestinationStream): void {
  let rest = '';
  from.setEncoding('utf8').on('data', (chunk: string) => {
    const end = chunk.lastIndexOf('\n') + 1;
    if (end > 0) {
      destination.write(rest + chunk.slice(0, end));
      rest = '';
    }
    rest += chunk.slice(end);
  });
}

/**
 * The logged fields of an error: type, message, code, stack, and the same of its cause. Other members are left out, because
 * they can hold documents, variables or responses of the REST service.
 */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  return {
    type: error.name,
    message: error.message,
    ...('code' in error && { code: String(error.code) }),
    stack: error.stack,
    ...(error.cause !== undefined && { cause: describeError(error.cause) }),
  };
}
