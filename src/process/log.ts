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

/** Lines are written in blocks of this many characters, and what there is of a block this often, in milliseconds. */
const BLOCK_LENGTH = 16_000;
const WRITE_EVERY_MS = 100;

/** Standard output, written by threads of Node's pool: a slow reader delays no request. No other process may have it. */
export function openStdout() {
  // Reading `process.stdout` makes Node set a pipe to non-blocking: a blocking write would hold a thread, and the end of
  // the process would wait for that thread. The gateway continues when the pipe is closed or the disk is full.
  process.stdout.on('error', () => undefined);
  let sync = false;
  // At most 16 MB wait for a slow reader; further lines are dropped.
  const options = { dest: 1, sync, minLength: 1, maxLength: 16 * 1024 * 1024, retryEAGAIN: () => !sync };
  const destination = pino.destination(options).on('error', () => undefined);
  // Blocks are made here: SonicBoom counts the bytes of its whole block, and so copies it, for each line.
  let block = '';
  const write = (lines: string) => {
    block += lines;
    if (block === '' || (lines !== '' && block.length < BLOCK_LENGTH)) return;
    destination.write(block);
    block = '';
  };
  setInterval(write, WRITE_EVERY_MS, '').unref();
  // At a fatal line and at the end: what the reader takes at once. SonicBoom's own repeats a write to a closed pipe forever.
  destination.flushSync = () => {
    sync = true;
    Object.assign(destination, { sync });
    write('');
    destination.flush();
    destination.flush();
    sync = false;
    Object.assign(destination, { sync });
  };
  const flush = (done: () => void) => {
    write('');
    destination.flush(done);
  };
  return { write, flush, flushSync: () => destination.flushSync() };
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
