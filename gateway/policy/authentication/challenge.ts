// The WWW-Authenticate value that goes with an authentication refusal (RFC 6750 §3).
// Called when a refusal becomes an answer.
import type { AuthenticationRefusal } from './access.ts';

/** AUTH-2: one Bearer challenge; a request without credentials is told no error code (RFC 6750 §3.1). */
export function challengeFor(refusal: AuthenticationRefusal, options: { readonly realm: string }): string {
  const challenge = `Bearer realm="${shown(options.realm)}"`;
  switch (refusal.reason) {
    case 'credentials_missing':
      return challenge;
    case 'credentials_malformed':
      return `${challenge}, error="invalid_request"`;
    case 'token_invalid':
      return `${challenge}, error="invalid_token", error_description="${shown(refusal.description)}"`;
    case 'scope_insufficient':
      return `${challenge}, error="insufficient_scope", scope="${shown(refusal.required.join(' '))}"`;
    default: {
      const never: never = refusal;
      throw new Error(`unhandled refusal ${JSON.stringify(never)}`);
    }
  }
}

/** RFC 6750 §3 allows printable ASCII without `"` and `\`, so nothing ever needs an escape; the rest is left out. */
function shown(text: string): string {
  return text.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '');
}
