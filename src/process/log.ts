import { type DestinationStream, type Logger, pino } from 'pino';

/** Lines are written when they have this many bytes, or every `FLUSH_EVERY_MS`. */
const MIN_WRITE_BYTES = 16_000;
const FLUSH_EVERY_MS = 100;
/** How many bytes are kept for a slow reader; further lines are dropped. */
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
  // Reading `process.stdout` makes Node set a pipe to non-blocking: a blocking write would hold a thread, and the end of
  // the process would wait for that thread. The gateway continues when the pipe is closed or the disk is full.
  process.stdout.on('error', () => undefined);
  let flushUntil = Number.POSITIVE_INFINITY;
  const destination = pino.destination({
    dest: 1,
    sync: false,
    minLength: MIN_WRITE_BYTES,
    maxLength: MAX_WAITING_BYTES,
    periodicFlush: FLUSH_EVERY_MS,
    retryEAGAIN: () => performance.now() < flushUntil,
  });
  destination.on('error', () => undefined);
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

/**
 * The logged fields of an error: type, message, code, stack, and the same of its cause. Other properties are left out,
 * because they can hold documents, variables or responses of the REST service.
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
