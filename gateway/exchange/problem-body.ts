// Errors as application/problem+json (RFC 9457), for clients that rank it above application/json (ERR-2).
// Asked by exchange.ts for every error the gateway makes.
import { preferredType } from '../policy/versioning/preferred-type.ts';
import type { ErrorDescription } from './error-body.ts';
import type { RequestGlimpse } from './request-view.ts';

export const PROBLEM_TYPE = 'application/problem+json';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Without an Accept that could be read the specification's own body is sent: an error never fails negotiation. */
export function wantsProblem({ headers }: RequestGlimpse): boolean {
  return preferredType(headers.get('accept'), ['application/json', PROBLEM_TYPE]) === PROBLEM_TYPE;
}

/**
 * One object for both readers: the members of RFC 9457 before those of the specification's body `own`. Without a
 * type of its own it is a problem that its status and the other members explain (RFC 9457 §4.2.1). A request id that the client chose
 * need not be a UUID: then there is no instance.
 */
export function problemBody(
  status: number,
  own: { readonly error: string; readonly message: string },
  requestId: string,
  problem?: ErrorDescription['problem'],
): Readonly<Record<string, unknown>> {
  return {
    type: problem?.type ?? 'about:blank',
    title: problem?.title ?? own.error,
    status,
    detail: own.message,
    ...(UUID.test(requestId) ? { instance: `urn:uuid:${requestId}` } : {}),
    ...problem?.members,
    ...own,
  };
}
