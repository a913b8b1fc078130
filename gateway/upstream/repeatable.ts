// Which requests may reach an upstream twice.
// Asked before a connection of doubtful age is used (connection.ts) and after one has failed (retry.ts).

// RFC 9110 §9.2.2.
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/** Whether sending it twice changes nothing, and can be done at all: a body streams past and is gone. */
export function isRepeatable(method: string, hasBody: boolean): boolean {
  return !hasBody && IDEMPOTENT.has(method);
}
