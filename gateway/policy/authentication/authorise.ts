// Whether an authenticated consumer may use a method, by the scopes its token holds.
// Asked after a token was verified, before any limit is touched.
import type { AuthenticationRefusal, Consumer, IdentifiedRule } from './access.ts';

/**
 * Undefined when the rule lets the request pass. Every scope of the method's kind must be there; GET, HEAD and OPTIONS
 * read, every other method, also one nobody has heard of, writes.
 */
export function authorise(
  rule: IdentifiedRule,
  method: string,
  consumer: Consumer,
): AuthenticationRefusal | undefined {
  const required = isRead(method) ? rule.scopes.read : rule.scopes.write;
  for (const scope of required) {
    if (!consumer.scopes.has(scope)) return { reason: 'scope_insufficient', required };
  }
  return undefined;
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}
