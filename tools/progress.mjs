/* How far long work is, on stderr: one line that moves on a terminal, a line for each step elsewhere. */

const CLEAR = '\r\x1b[2K';

/**
 * @param {number} total How many times `step` will be called.
 * @param {{ isTTY?: boolean, columns?: number, write(text: string): unknown }} [stream]
 * @param {() => number} [now] The time in milliseconds.
 */
export function startProgress(total, stream = process.stderr, now = () => performance.now()) {
  const began = now();
  let [step, text, end] = [0, '', 0];
  const draw = () => {
    const seconds = Math.max(Math.round((end - now()) / 1_000), 1);
    const left = seconds < 100 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
    const line = `step ${step} of ${total}${step > 1 ? `, about ${left} left` : ''}: ${text}`;
    stream.write(stream.isTTY ? CLEAR + line.slice(0, (stream.columns || 80) - 1) : `${line}\n`);
  };
  const clear = () => stream.isTTY && stream.write(CLEAR);
  const timer = stream.isTTY ? setInterval(() => step > 0 && draw(), 1_000).unref() : undefined;
  return {
    /** Begins the next step. Each step is expected to take as long as those before it on average. */
    step(/** @type {string} */ what) {
      end = now() + ((now() - began) / Math.max(step, 1)) * (total - step);
      [step, text] = [step + 1, what];
      draw();
    },
    /** Prints a line of the result on stdout. */
    print(/** @type {string} */ line) {
      clear();
      console.log(line);
      if (stream.isTTY && step > 0) draw();
    },
    end() {
      clearInterval(timer);
      clear();
    },
  };
}
