// Judges what an introspection endpoint says of a token (RFC 7662 §2.2), by the rules that hold for a JWT's claims.
// Pure: the answer was fetched by introspect.ts.
import type { IntrospectionIdentity } from '../plan/settings.ts';
import { bindingOf } from '../policy/authentication/binding.ts';
import { consumerFrom } from '../policy/authentication/consumer.ts';
import { LEEWAY } from '../policy/authentication/token-time.ts';
import type { EpochMs } from '../policy/contract.ts';
import { expired, invalid, type Judged, known, lasting, passing } from './verdict.ts';

/** Members in which servers say what kind of token it is; a refresh token is active too (JWT-5). */
const KIND_MEMBERS = ['token_type', 'token_use', 'typ'];
const ACCESS_KINDS = /^(?:bearer|access_token|(?:application\/)?(?:at\+)?jwt)$/i;

type Settings = Pick<IntrospectionIdentity, 'issuer' | 'audience' | 'consumerClaims' | 'prefixes'>;

/** `answer` has a boolean `active`. */
export function judgeIntrospection(
  answer: Readonly<Record<string, unknown>>,
  settings: Settings,
  at: EpochMs,
): Judged {
  if (answer.active !== true) return lasting(invalid('inactive'));
  // The server's own words and no signed text: a member that it leaves empty is one that is not there.
  const claims = Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== null));
  const { exp = Number.POSITIVE_INFINITY, nbf = 0, iss, aud } = claims;
  if (typeof exp !== 'number' || typeof nbf !== 'number') return lasting(invalid('claims'));
  if (!(at < (exp + LEEWAY) * 1000)) return lasting(expired('expired'));
  if (!(nbf * 1000 <= at + LEEWAY * 1000)) return passing(invalid('not_yet'));
  if (settings.issuer !== undefined && iss !== settings.issuer) return lasting(invalid('issuer'));
  if (settings.audience !== undefined && ![aud].flat().includes(settings.audience))
    return lasting(invalid('audience'));
  const binding = bindingOf(claims);
  if (binding.kind === 'other') return lasting(invalid('binding'));
  if (!KIND_MEMBERS.every((name) => isOfAccess(claims[name]))) return lasting(invalid('types'));
  const consumer = consumerFrom(claims, settings.consumerClaims, settings.prefixes);
  if (consumer === undefined) return lasting(invalid('consumer'));
  return { outcome: known(consumer, binding), expires: exp * 1000 };
}

function isOfAccess(kind: unknown): boolean {
  return kind === undefined || (typeof kind === 'string' && ACCESS_KINDS.test(kind));
}
