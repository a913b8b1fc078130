// Authenticates the caller by the access rule of an API, a version or an operation.
import type {
  AccessRule,
  AuthenticationRefusal,
  AuthenticationResult,
  Authenticator,
  CallerEvidence,
  Consumer,
  IdentifiedRule,
} from '../../policy/authentication/access.ts';
import type { MaybePromise } from '../../policy/contract.ts';
import type { TokensLimited } from '../../policy/rate-limit/limit.ts';
import { decodedBytes } from '../../policy/versioning/look-alike.ts';
import { Fault } from '../directive.ts';
import type { ExchangePorts } from '../ports.ts';

export type AuthenticatedCaller =
  /** `consumer` is undefined for public access and for anonymous callers. */
  | { readonly kind: 'known'; readonly consumer: Consumer | undefined }
  | { readonly kind: 'refused'; readonly refusal: AuthenticationRefusal | TokensLimited };

export const ANONYMOUS = { kind: 'known', consumer: undefined } as const satisfies AuthenticatedCaller;
const MISSING: AuthenticatedCaller = { kind: 'refused', refusal: { reason: 'credentials_missing' } };

/**
 * Synchronous for a cached credential. @throws Fault `identity_unavailable` if it cannot be judged (JWT-4)
 */
export function authenticate(
  access: AccessRule,
  carried: CallerEvidence,
  { authenticators }: Pick<ExchangePorts, 'authenticators'>,
): MaybePromise<AuthenticatedCaller> {
  if (access.kind === 'public') return ANONYMOUS;
  const { identities, anonymous } = access;
  const authenticator =
    identities.length === 1 && !anonymous
      ? running(identities[0], authenticators)
      : selectAuthenticator(access, carried, authenticators);
  if (authenticator === undefined) return anonymous ? ANONYMOUS : MISSING;
  const judged = authenticator.judge(carried);
  return judged instanceof Promise ? judged.then(callerOf) : callerOf(judged);
}

/**
 * The authenticator of the first credential in the order of the identities. Other credentials of the request
 * are ignored, so that an invalid one is never replaced by another. If several identities accept the same
 * credential, the one that it names is used. If it names none, the first identity refuses it.
 */
function selectAuthenticator(
  { identities }: IdentifiedRule,
  carried: CallerEvidence,
  authenticators: ExchangePorts['authenticators'],
): Authenticator | undefined {
  const present = identities
    .map((name) => running(name, authenticators))
    .filter((each) => each.isPresent(carried));
  const [first] = present;
  return present.find((each) => each.via === first?.via && each.claims(carried)) ?? first;
}

function running(name: string | undefined, authenticators: ExchangePorts['authenticators']): Authenticator {
  const authenticator = name === undefined ? undefined : authenticators.get(name);
  if (authenticator !== undefined) return authenticator;
  throw new Fault('internal', { cause: new Error('a plan names an identity that is not running') });
}

function callerOf(outcome: AuthenticationResult): AuthenticatedCaller {
  switch (outcome.kind) {
    case 'consumer':
      return { kind: 'known', consumer: outcome.consumer };
    case 'refused':
      return outcome;
    case 'limited': {
      const { retryAfterSeconds } = outcome;
      return { kind: 'refused', refusal: { reason: 'tokens_limited', retryAfterSeconds } };
    }
    case 'unavailable':
      throw new Fault('identity_unavailable');
    default:
      return outcome satisfies never;
  }
}

/**
 * The name of a forbidden parameter in the raw query (`?…`), percent-decoded as a server would. Else
 * undefined.
 */
export function credentialInQuery(search: string, forbidden: ReadonlySet<string>): string | undefined {
  if (search.length < 2 || forbidden.size === 0) return undefined;
  if (!suspects.getOrInsertComputed(forbidden, suspicious).test(search)) return undefined;
  for (const pair of search.slice(1).split('&')) {
    const equals = pair.indexOf('=');
    const name = decodedBytes(equals === -1 ? pair : pair.slice(0, equals));
    if (forbidden.has(name)) return name;
  }
  return undefined;
}

const suspects = new WeakMap<ReadonlySet<string>, RegExp>();
const suspicious = (names: ReadonlySet<string>): RegExp =>
  new RegExp(['[%+]', ...[...names].map((name) => RegExp.escape(name))].join('|'));
