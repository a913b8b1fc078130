// Measures the CPU time of this thread, for tests of how cost grows with input size.

export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
