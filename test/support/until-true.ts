// Waits for a condition without an event, such as the work of other processes, outside of vitest.

/** Polls `look`. @throws Error if it stays false for `withinMs` */
export async function untilTrue(
  look: () => Promise<boolean> | boolean,
  { withinMs = 20_000, everyMs = 20 } = {},
): Promise<void> {
  const until = performance.now() + withinMs;
  while (!(await look())) {
    if (performance.now() > until) throw new Error(`still not so after ${withinMs} ms: ${String(look)}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
