// Client certificates as a way of knowing who calls.
// Whether one is proven, and whether the client itself opened the connection, was settled by the plane.
import type { CertificateIdentity } from '../plan/settings.ts';
import type { Authenticated, Authenticator, ClientCertificate } from '../policy/authentication/access.ts';
import { consumerOfCertificate } from '../policy/authentication/consumer.ts';
import type { EpochMs } from '../policy/contract.ts';

const MISSING: Authenticated = { kind: 'refused', refusal: { reason: 'credentials_missing' } };
const NAMELESS: Authenticated = { kind: 'refused', refusal: { reason: 'certificate_invalid' } };

export function createCertificateAuthenticator(
  settings: CertificateIdentity,
  now: () => EpochMs,
): Authenticator {
  const scopes = new Set(settings.scopes);
  /** One certificate stands for all requests of its connection. */
  const judged = new WeakMap<ClientCertificate, Authenticated>();

  const judge = (certificate: ClientCertificate): Authenticated => {
    const consumer = consumerOfCertificate(certificate, settings.consumer, scopes, settings.prefixes);
    const answer: Authenticated = consumer === undefined ? NAMELESS : { kind: 'consumer', consumer };
    judged.set(certificate, answer);
    return answer;
  };
  return {
    via: 'certificate',
    isPresent: ({ clientCertificate }) => clientCertificate !== undefined,
    claims: ({ clientCertificate }) => clientCertificate !== undefined,
    judge: ({ clientCertificate }) => {
      if (clientCertificate === undefined) return MISSING;
      // Proven when the connection was opened, which may be long ago.
      if (clientCertificate.ends <= now()) return NAMELESS;
      return judged.get(clientCertificate) ?? judge(clientCertificate);
    },
  };
}
