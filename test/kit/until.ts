/** Asks again and again until something holds; throws after a time in which it always does. */
export async function until(holds: () => boolean | Promise<boolean>, withinMs = 50_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`Not within ${withinMs} ms: ${holds}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
