import fs from 'node:fs';
import { type DestinationStream, type Logger, pino } from 'pino';

/** How much goes out in one write at most, and half of that at least unless time is up: a write costs more than a line does. */
const WRITE_BYTES = 32_768;
/**
 * Of several processes with one stdout none writes more than a pipe takes whole, unless a line alone is longer: lines do
 * not tear each other apart.
 */
const SHARED_WRITE_BYTES = 4_096;

/** How long a line may wait for others to be written with it, in milliseconds. */
const MAX_WAIT_MS = 50;

/** How long it is until a reader that did not keep up may have made room, in milliseconds. */
const RETRY_MS = 5;

/** How much may wait for a reader of the log that does not keep up; what comes on top is dropped, the process goes on. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/** Where lines go. After a fatal line pino calls `flushSync`. */
interface LogDestination extends DestinationStream {
  /** Writes what has come so far; `done` is called when that is written, or lost with its reader. */
  flush(done: () => void): void;
  /** The same before it returns: it waits for a reader that lags. */
  flushSync(): void;
}

/** Nobody wakes who waits for it. */
const NEVER = new Int32Array(new SharedArrayBuffer(4));

/**
 * JSON lines, on stdout unless said otherwise. Writing never blocks; what waits when the process ends is written then.
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
 * moment. A write costs a few microseconds and goes as far as there is room: Node opens pipes and sockets so that they
 * never block. Files and terminals have room.
 *
 * @param shared Whether other processes write there too.
 */
export function stdout(shared: boolean): LogDestination {
  const maxWrite = shared ? SHARED_WRITE_BYTES : WRITE_BYTES;
  const { fd } = process.stdout;
  const waiting: Uint8Array[] = [];
  const whenWritten: (() => void)[] = [];
  let waitingBytes = 0;
  let lines = '';
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;

  function handOn(): void {
    clearTimeout(timer);
    timer = undefined;
    if (lines !== '' && waitingBytes + bytes <= MAX_WAITING_BYTES) {
      waiting.push(Buffer.from(lines));
      waitingBytes += bytes;
    }
    lines = '';
    bytes = 0;
    writeOut();
    if (waiting.length > 0) timer = setTimeout(handOn, RETRY_MS);
    else for (const done of whenWritten.splice(0)) done();
  }

  /** As much of what waits as there is room for; without a reader nothing waits any more. */
  function writeOut(): void {
    try {
      for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
        const written = fs.writeSync(fd, next);
        waitingBytes -= written;
        if (written === next.length) waiting.shift();
        else waiting[0] = next.subarray(written);
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return;
      waiting.length = 0;
      waitingBytes = 0;
    }
  }

  function flushSync(): void {
    for (handOn(); waiting.length > 0; handOn()) Atomics.wait(NEVER, 0, 0, RETRY_MS);
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
