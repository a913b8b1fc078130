// Which fields belong to one connection only (RFC 9110 §7.6.1).
// Read by both directions of forwarding.

/**
 * Lower-case names a Connection field nominates, or undefined when there are none worth removing:
 * the usual `keep-alive` and `close` name no field that is not removed anyway (FWD-1).
 */
export function nominated(
  connection: string | readonly string[] | undefined,
): ReadonlySet<string> | undefined {
  if (connection === undefined) return undefined;
  const value = typeof connection === 'string' ? connection : connection.join(',');
  if (value === 'keep-alive' || value === 'close') return undefined;
  const names = new Set<string>();
  for (const token of value.split(',')) {
    const name = token.trim().toLowerCase();
    if (name !== '') names.add(name);
  }
  return names;
}
