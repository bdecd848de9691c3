import fs from 'node:fs';
import { type DestinationStream, type Logger, pino } from 'pino';

/** How much goes out in one write at most, and half of that at least unless time is up: a write costs more than a line does. */
const WRITE_BYTES = 32_768;
/**
 * Of several processes with one stdout none writes more than a pipe takes whole, unless a line alone is longer: in a pipe
 * lines do not tear each other apart.
 */
const SHARED_WRITE_BYTES = 4_096;

/** How long a line may wait for others to be written with it, in milliseconds. */
const MAX_WAIT_MS = 50;

/** How long it is until a reader that did not keep up may have made room, in milliseconds. */
const RETRY_MS = 5;

/** How much may wait for a reader of the log that does not keep up; what comes on top is lost, and said to be. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/** Where lines go. After a fatal line pino calls `flushSync`. */
interface LogDestination extends DestinationStream {
  /** Writes what has come so far; `done` is called when that is written, or lost with its reader. */
  flush(done: () => void): void;
  /** The same before it returns: it waits for a reader that lags, for up to two seconds. */
  flushSync(): void;
}

/** How long the end of a process, or a fatal line, waits for a reader that lags, in milliseconds. */
const MAX_FLUSH_MS = 2_000;

/** No room in a pipe or on a disk. */
const MAY_PASS: ReadonlySet<string | undefined> = new Set(['EAGAIN', 'ENOSPC']);

/** Nobody wakes who waits for it. */
const NEVER = new Int32Array(new SharedArrayBuffer(4));

/**
 * JSON lines, on stdout unless said otherwise. Only fatal ones wait for their reader; what waits when the process ends is
 * written then, as far as a reader takes it.
 *
 * Lines are made of fields chosen one by one, which is what keeps credentials and personal data out of them. The censored
 * names are a net below that; they stand without wildcards, which would make every line three times as dear.
 */
export function createLog(level: string, destination: DestinationStream = stdout(false)): Logger {
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

/**
 * Standard output, written to by this thread: what has been written is known at any time, also in the process's last
 * moment. A write takes some microseconds and goes as far as there is room; files and terminals have room.
 *
 * @param shared Whether other processes write there too.
 */
export function stdout(shared: boolean): LogDestination {
  const maxWrite = shared ? SHARED_WRITE_BYTES : WRITE_BYTES;
  const waiting: Uint8Array[] = [];
  const whenWritten: (() => void)[] = [];
  let waitingBytes = 0;
  let lostBytes = 0;
  let lines = '';
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;

  function handOn(): void {
    clearTimeout(timer);
    timer = undefined;
    writeOut();
    if (lostBytes > 0 || waitingBytes + bytes > MAX_WAITING_BYTES) lostBytes += bytes;
    else if (lines !== '') wait(lines);
    lines = '';
    bytes = 0;
    writeOut();
    if (waiting.length === 0 && lostBytes > 0) {
      wait(
        `${JSON.stringify({ level: 40, time: Date.now(), pid: process.pid, lostBytes, msg: 'lines of the log were lost: its reader did not keep up' })}\n`,
      );
      lostBytes = 0;
      writeOut();
    }
    if (waiting.length > 0) timer = setTimeout(handOn, RETRY_MS);
    else for (const done of whenWritten.splice(0)) done();
  }

  function wait(text: string): void {
    const data = Buffer.from(text);
    waiting.push(data);
    waitingBytes += data.length;
  }

  /** As much of what waits as there is room for; without a reader nothing waits any more. */
  function writeOut(): void {
    if (waiting.length > 0) unblock();
    try {
      for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
        const written = fs.writeSync(1, next);
        waitingBytes -= written;
        if (written === next.length) waiting.shift();
        else waiting[0] = next.subarray(written);
      }
    } catch (error) {
      if (MAY_PASS.has((error as NodeJS.ErrnoException).code)) return;
      waiting.length = 0;
      waitingBytes = 0;
    }
  }

  function flushSync(): void {
    const until = performance.now() + MAX_FLUSH_MS;
    for (handOn(); waiting.length > 0 && performance.now() < until; handOn()) Atomics.wait(NEVER, 0, 0, 1);
  }

  process.on('exit', flushSync);
  return {
    write(line) {
      const length = Buffer.byteLength(line);
      if (bytes + length > maxWrite) handOn();
      lines += line;
      bytes += length;
      if (bytes >= maxWrite / 2) handOn();
      else timer ??= setTimeout(handOn, MAX_WAIT_MS);
    },
    flush(done) {
      whenWritten.push(done);
      handOn();
    },
    flushSync,
  };
}

/** What Node writes to a pipe or a socket with. */
interface Handle {
  setBlocking(yes: boolean): void;
}

/**
 * Has a pipe or a socket take what there is room for, and nothing else, in the next write. Node opens it so, but starting a
 * process makes it block again: whether it does is decided for all who have it.
 */
function unblock(): void {
  const { _handle, isTTY } = process.stdout as { _handle?: Handle; isTTY?: boolean };
  if (!isTTY) _handle?.setBlocking?.(false);
}

/**
 * What an error tells the log: type, message, code, stack and the same of its cause. Other members are left out, since
 * errors carry along whatever they were about: documents, variables, answers of the REST service.
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
