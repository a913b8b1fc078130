// Who calls, by the access rule of an API, a version or an operation.
// Called by the pipeline: before the version is known where an account's pin decides it, else after all that is public.
import type {
  AccessRule,
  Authenticated,
  AuthenticationRefusal,
  Consumer,
  TokenVerifier,
} from '../policy/authentication/access.ts';
import { readBearer } from '../policy/authentication/bearer.ts';
import type { MaybePromise } from '../policy/contract.ts';
import { Fault } from './directive.ts';
import type { ExchangePorts } from './ports.ts';
import type { RequestView } from './request-view.ts';

export type Caller =
  /** Nobody is known where the access is public. */
  | { readonly kind: 'known'; readonly consumer: Consumer | undefined }
  | { readonly kind: 'refused'; readonly refusal: AuthenticationRefusal };

const ANYBODY: Caller = { kind: 'known', consumer: undefined };

/**
 * At once for a token seen before.
 * @throws Fault `identity_unavailable` when no key could be had to verify a token (JWT-4); a promise rejects with it
 */
export function authenticate(
  access: AccessRule,
  { headers }: Pick<RequestView, 'headers'>,
  { verifiers }: Pick<ExchangePorts, 'verifiers'>,
): MaybePromise<Caller> {
  if (access.kind === 'public') return ANYBODY;
  const bearer = readBearer(headers);
  if (bearer.kind === 'refused') return bearer;
  const verifier = verifierOf(bearer.token, access.identities, verifiers);
  const verified = verifier.verify(bearer.token);
  return verified instanceof Promise ? verified.then(callerOf) : callerOf(verified);
}

/** The one that the token says it is for; where it says so of none, the first is to say what is wrong with it. */
function verifierOf(
  token: string,
  [first, ...rest]: readonly string[],
  verifiers: ExchangePorts['verifiers'],
): TokenVerifier {
  const running = (name: string | undefined): TokenVerifier => {
    const verifier = name === undefined ? undefined : verifiers.get(name);
    if (verifier !== undefined) return verifier;
    throw new Fault('internal', { cause: new Error('a plan names an identity that is not running') });
  };
  if (rest.length === 0 || running(first).claims(token)) return running(first);
  return running(rest.find((name) => running(name).claims(token)) ?? first);
}

function callerOf(outcome: Authenticated): Caller {
  switch (outcome.kind) {
    case 'consumer':
      return { kind: 'known', consumer: outcome.consumer };
    case 'refused':
      return outcome;
    case 'unavailable':
      throw new Fault('identity_unavailable');
    default: {
      const never: never = outcome;
      throw new Error(`unhandled outcome ${JSON.stringify(never)}`);
    }
  }
}
