import { type DestinationStream, type Logger, pino } from 'pino';

/**
 * A log of JSON lines. Only chosen fields are logged, so that lines contain no credentials or personal data. The redacted
 * names are a second protection. They have no wildcards: these would make a line three times as expensive.
 */
export function createLog(level: string, destination: DestinationStream): Logger {
  const paths = ['authorization', 'cookie', 'headers', 'body', 'variables', 'email', 'mobile', 'mobileNumber'];
  const redact = { paths, censor: '[redacted]' };
  // JSON leaves these characters as they are, and a terminal obeys them. Anybody can send a token whose key id has some.
  const escaped = (one: string) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const streamWrite = (line: string) => line.replace(/[\x7f-\x9f\u2028\u2029\p{Bidi_Control}]/gu, escaped);
  return pino({ level, hooks: { streamWrite }, serializers: { err: describeError }, redact }, destination);
}

/** Resolves when all lines so far are written, or after two seconds: their reader may be slow. */
export function flushed(log: Logger): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 2_000);
    // A flush during a write ends with that write; lines added meanwhile need a second flush.
    log.flush(() => log.flush(() => resolve()));
  });
}

/** The length of a block of lines, in characters, and how often a shorter one is written, in milliseconds. */
const BLOCK_LENGTH = 16_000;
const WRITE_EVERY_MS = 100;
/** How many characters of audit lines wait beside the 16 MB of all lines. */
const MAX_AUDIT_LENGTH = 1024 * 1024;

/** Standard output, written by threads of Node's pool: a slow reader delays no request. No child process may inherit it. */
export function openStdout() {
  // Reading `process.stdout` makes Node set a pipe to non-blocking: a blocking write would hold a thread, and the end of
  // the process would wait for that thread. The gateway continues when the pipe is closed or the disk is full.
  process.stdout.on('error', () => undefined);
  const retryEAGAIN = (): boolean => !Object(destination).sync;
  // At most 16 MB wait for a slow reader; further lines are dropped, those of the audit last.
  const options = { dest: 1, sync: false, minLength: 1, maxLength: 16 * 1024 * 1024, retryEAGAIN };
  const destination = pino.destination(options).on('error', () => undefined);
  let dropped = 0;
  let audit = '';
  destination.on('drop', (lines: string) => {
    for (const line of lines.match(/.+\n/g) ?? []) {
      // No text in a line can contain this: its quotes are escaped.
      if (line.includes('"audit":') && audit.length < MAX_AUDIT_LENGTH) audit += line;
      else dropped += 1;
    }
  });
  // Lines are collected here: for each one, SonicBoom would count the bytes of its whole buffer, and copy it for that.
  let block = '';
  const writeBlock = () => {
    const lines = audit + block;
    block = audit = '';
    if (lines !== '') destination.write(lines);
  };
  setInterval(writeBlock, WRITE_EVERY_MS).unref();
  // At a fatal line and at the end: what the reader takes at once. SonicBoom's own repeats a write to a closed pipe forever.
  destination.flushSync = () => {
    Object.assign(destination, { sync: true });
    writeBlock();
    destination.flush();
    destination.flush();
    Object.assign(destination, { sync: false });
  };
  return {
    write(line: string): void {
      block += line;
      if (block.length >= BLOCK_LENGTH) writeBlock();
    },
    flush(done: () => void): void {
      writeBlock();
      destination.flush(done);
    },
    flushSync: () => destination.flushSync(),
    dropped: () => dropped,
  };
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
