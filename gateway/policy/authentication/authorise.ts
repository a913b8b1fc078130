// Whether an authenticated consumer may use a method, by the scopes its token holds.
// Asked once it is known who calls, before any limit is touched.
import type { AuthenticationRefusal, Consumer, IdentifiedRule } from './access.ts';

/**
 * Undefined when the rule lets the request pass. Every scope of the method's kind must be there; GET, HEAD and OPTIONS
 * read, every other method, also one nobody has heard of, writes. What no rule speaks of is refused to everybody, and a
 * caller without credentials holds no scope.
 */
export function authorise(
  rule: IdentifiedRule,
  method: string,
  consumer: Consumer | undefined,
): AuthenticationRefusal | undefined {
  const required = isRead(method) ? rule.scopes.read : rule.scopes.write;
  if (required === undefined) return { reason: 'operation_not_granted' };
  if (consumer === undefined) return required.length === 0 ? undefined : { reason: 'credentials_missing' };
  for (const scope of required) {
    if (!consumer.scopes.has(scope)) return { reason: 'scope_insufficient', required, via: consumer.via };
  }
  return undefined;
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}
