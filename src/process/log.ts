import type { Readable } from 'node:stream';
import { type DestinationStream, type Logger, pino } from 'pino';

/** A write waits until there are so many bytes, or until the next regular flush: a write costs more than a line does. */
const MIN_WRITE_BYTES = 4_096;
const FLUSH_EVERY_MS = 100;
/** How many bytes wait for a reader that does not keep up; further lines are dropped and counted. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** How long the end of the process or a fatal line waits for such a reader, in milliseconds. */
const MAX_FLUSH_MS = 2_000;

/**
 * A log of JSON lines. Lines are made of chosen fields, which keeps credentials and
 * personal data out; the redacted names are a second line of defence. They have no wildcards, which would make a line three
 * times as expensive.
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
    // A flush during a write ends with that write; what came meanwhile needs another one.
    log.flush(() => log.flush(() => resolve()));
  });
}

/**
 * Standard output, written to by threads of Node's pool, so that a reader that does not keep up delays no request. No other
 * process may have it: one that ends makes it block again.
 */
export function openStdout(): DestinationStream {
  // Node makes a pipe non-blocking when it opens it. A write to a full pipe then fails and is repeated, instead of holding a
  // thread, for which the end of the process would wait.
  process.stdout.on('error', () => undefined);
  let flushUntil = Number.POSITIVE_INFINITY;
  let dropped = 0;
  const destination = pino.destination({
    dest: 1,
    sync: false,
    minLength: MIN_WRITE_BYTES,
    maxLength: MAX_WAITING_BYTES,
    periodicFlush: FLUSH_EVERY_MS,
    retryEAGAIN: () => performance.now() < flushUntil,
  });
  // A closed pipe or a full disk is no reason to end.
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
  // SonicBoom's own repeats a write to a closed pipe forever.
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

/** Writes the lines of another process to a destination, each whole. */
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
 * What the log has of an error: type, message, code, stack and the same of its cause. Other members are left out, since
 * errors carry what they were about: documents, variables, answers of the REST service.
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
