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

/** How much may wait for a reader of the log that does not keep up; what comes on top is dropped, the process goes on. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

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

/** @param shared Whether other processes write there too. */
export function stdout(shared: boolean): DestinationStream {
  const maxWrite = shared ? SHARED_WRITE_BYTES : WRITE_BYTES;
  return gather(maxWrite, () =>
    pino.destination({ dest: 1, sync: false, minLength: 1, maxWrite, maxLength: MAX_WAITING_BYTES }),
  );
}

/** What pino writes to a file descriptor with. */
type Destination = ReturnType<typeof pino.destination>;

/**
 * Lines that go out together, half of a write at least unless time is up. A destination of pino's can gather lines itself,
 * but counts with each of them everything that waits anew, which makes a line twice as dear.
 */
function gather(
  maxWrite: number,
  createDestination: () => Destination,
): DestinationStream & Pick<Destination, 'flush' | 'flushSync'> {
  let lines = '';
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;

  function handOn(): void {
    clearTimeout(timer);
    timer = undefined;
    if (lines === '') return;
    destination.write(lines);
    lines = '';
    bytes = 0;
  }

  /** Before this returns; what the destination begins by itself would be lost with the process. */
  function flushSync(): void {
    Object.assign(destination, { minLength: Number.POSITIVE_INFINITY });
    handOn();
    Object.assign(destination, { minLength: 1 });
    destination.flushSync();
  }

  // Earlier than the destination's own farewell.
  process.on('exit', flushSync);
  const destination = createDestination();
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
      handOn();
      destination.flush(done);
    },
    // After a fatal line pino calls this.
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
