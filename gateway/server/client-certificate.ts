// What of a client's certificate says who it is, taken from a TLS connection once, when the handshake is over.
// Only of one that the authority of the listener has proven; any other is as good as none.
import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { ClientCertificate } from '../policy/authentication/access.ts';

/** An entry of a subject alternative name; what holds a comma or a quote is written as a JSON string. */
const NAME = /(?:^|, )([A-Za-z0-9 ]+):("(?:[^"\\]|\\.)*"|[^,"]*)/g;

/** Undefined where none was shown or it is not proven. A resumed session without one counts as authorised: so both are asked. */
export function provenCertificate(socket: TLSSocket): ClientCertificate | undefined {
  if (!socket.authorized) return undefined;
  const certificate = socket.getPeerX509Certificate();
  return certificate === undefined ? undefined : readCertificate(certificate);
}

export function readCertificate(certificate: X509Certificate): ClientCertificate {
  const names = namesIn(certificate.subjectAltName ?? '');
  const { subject } = certificate.toLegacyObject();
  // Several of them come as a list.
  const commonName: unknown = subject?.CN;
  return {
    commonName: typeof commonName === 'string' ? commonName : undefined,
    dnsNames: names.filter(([kind]) => kind === 'DNS').map(([, name]) => name),
    uris: names.filter(([kind]) => kind === 'URI').map(([, name]) => name),
    fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    ends: certificate.validToDate.getTime(),
  };
}

function namesIn(text: string): readonly (readonly [kind: string, name: string])[] {
  return [...text.matchAll(NAME)].map(([, kind = '', name = '']) => [
    kind,
    name.startsWith('"') ? String(JSON.parse(name)) : name,
  ]);
}
