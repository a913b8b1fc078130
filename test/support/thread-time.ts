// How long something took this thread, whatever else the machine was busy with meanwhile.
// For tests of what must not take longer the more somebody writes.

/** Milliseconds of processor time that this thread has used. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
