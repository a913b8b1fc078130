// Waits for what other processes do in their own time, where there is no event to wait for.
// For the harnesses; tests that expect something wait with vitest's own.

/** Looks again and again. @throws Error when it has not become so within `withinMs`. */
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
