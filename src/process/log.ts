import { type DestinationStream, type Logger, pino } from 'pino';

/**
 * A log of JSON lines. Only chosen fields are logged, so that lines contain no credentials or personal data. The redacted
 * names are a second protection. They have no wildcards: these would make a line three times as expensive.
 */
export function createLog(level: string, destination: DestinationStream): Logger {
  const paths = ['authorization', 'cookie', 'headers', 'body', 'variables', 'email', 'mobile', 'mobileNumber'];
  return pino({ level, serializers: { err: describeError }, redact: { paths, censor: '[redacted]' } }, destination);
}

/** Resolves when all lines so far are written, or after two seconds: their reader may be slow. */
export function flushed(log: Logger): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 2_000);
    // A flush during a write ends with that write; lines added meanwhile need a second flush.
    log.flush(() => log.flush(() => resolve()));
  });
}

/** How often lines are written that are too few for a write of their own, in milliseconds. */
const FLUSH_EVERY_MS = 100;

/** Standard output, written by threads of Node's pool: a slow reader delays no request. No other process may have it. */
export function openStdout(): DestinationStream {
  // Reading `process.stdout` makes Node set a pipe to non-blocking: a blocking write would hold a thread, and the end of
  // the process would wait for that thread. The gateway continues when the pipe is closed or the disk is full.
  process.stdout.on('error', () => undefined);
  let sync = false;
  // At most 16 MB wait for a slow reader; further lines are dropped.
  const buffer = { minLength: 16_000, maxLength: 16 * 1024 * 1024 };
  const destination = pino.destination({ dest: 1, sync, retryEAGAIN: () => !sync, ...buffer });
  // Not SonicBoom's periodic flush: it also begins writes when there is no line, and during one `flushSync` writes nothing.
  setInterval(() => Reflect.get(destination, '_len') > 0 && destination.flush(), FLUSH_EVERY_MS).unref();
  destination.on('error', () => undefined);
  // At a fatal line and at the end: what the reader takes at once. SonicBoom's own repeats a write to a closed pipe forever.
  destination.flushSync = () => {
    sync = true;
    Object.assign(destination, { sync });
    destination.flush();
    destination.flush();
    sync = false;
    Object.assign(destination, { sync });
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
