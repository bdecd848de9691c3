/** The real one, also while a test has a clock of its own. */
const { setTimeout: later } = globalThis;
/** The pause between two questions, in milliseconds. Without one, the question would take the processor from what it waits for. */
const PAUSE_MS = 5;

/** Asks again and again until something holds; throws after a time in which it always does. */
export async function until(holds: () => boolean | Promise<boolean>, withinMs = 50_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`Not within ${withinMs} ms: ${holds}`);
    await new Promise((resolve) => later(resolve, PAUSE_MS));
  }
}
