// Detects misspelt names of registered claims: if tokens lack the claim, every caller gets 401.
import { distance } from 'fastest-levenshtein';
import type { Finding } from './document.ts';

const REGISTERED = ['client_id', 'azp', 'sub', 'preferred_username', 'email'];
/** Similar to these, but used by some issuers. */
const KNOWN_VARIANTS = new Set(['clientId', 'username', 'upn']);
const SPELLED_OUT: ReadonlyMap<string, string> = new Map([
  ['subject', 'sub'],
  ['authorizedparty', 'azp'],
]);

export function nearRegistered(claim: string): Finding | undefined {
  if (REGISTERED.includes(claim) || KNOWN_VARIANTS.has(claim)) return undefined;
  const plain = bare(claim);
  const meant = SPELLED_OUT.get(plain) ?? REGISTERED.find((known) => isNear(plain, bare(known)));
  if (meant === undefined) return undefined;
  return {
    rule: 'claim',
    severity: 'warning',
    message:
      'not a registered claim, but nearly one: a token that has none of this name does not say who calls',
    hint: `did you mean "${meant}"?`,
  };
}

/** Short names must match exactly, since many words are close to them. */
function isNear(claim: string, known: string): boolean {
  return known.length < 8 ? claim === known : distance(claim, known) <= 2;
}

function bare(claim: string): string {
  return claim.toLowerCase().replace(/[-_. ]/g, '');
}
