// Identities that take every credential they are shown, for one consumer: where nobody looks into a token or a store.
// Used by judge.ts; what is assumed is said by whoever prints it.
import type { IdentitySettings } from '../plan/settings.ts';
import type { Authenticated, Authenticator, Carried, Consumer } from '../policy/authentication/access.ts';
import { tokenAuthenticator } from '../policy/authentication/token-authenticator.ts';

export interface AssumedConsumer extends Omit<Consumer, 'claims' | 'via'> {
  /** Whether it was said who calls: then it has a credential of every kind. */
  readonly isNamed: boolean;
}

const MISSING: Authenticated = { kind: 'refused', refusal: { reason: 'credentials_missing' } };

export function assumeIdentity(
  identity: IdentitySettings,
  consumer: Omit<Consumer, 'via'>,
  isNamed: boolean,
): Authenticator {
  const known = (via: Consumer['via']): Authenticated => ({
    kind: 'consumer',
    consumer: { ...consumer, via },
  });
  const shown = (via: Consumer['via'], isShown: (carried: Carried) => boolean): Authenticator => ({
    via,
    isPresent: (carried) => isNamed || isShown(carried),
    claims: () => true,
    judge: (carried) => (isNamed || isShown(carried) ? known(via) : MISSING),
  });
  switch (identity.kind) {
    case 'jwt':
    case 'introspection':
      // What stands for a token is among the headers.
      return tokenAuthenticator(() => 0, { claims: () => true, verify: () => known('token') });
    case 'keys': {
      const field = identity.header;
      const name = field.toLowerCase();
      return { ...shown('key', ({ headers }) => headers[name] !== undefined), field };
    }
    case 'certificate':
      return shown('certificate', ({ clientCertificate }) => clientCertificate !== undefined);
    default: {
      const never: never = identity;
      throw new Error(`unhandled identity ${JSON.stringify(never)}`);
    }
  }
}
