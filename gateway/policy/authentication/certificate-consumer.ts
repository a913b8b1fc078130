// From a proven client certificate to the consumer: one stable id, from one place of it.
// Called once per connection; what a certificate may do is said by its identity.
import { type IdPrefixes, idNamed } from '../notation.ts';
import type { ClientCertificate, Consumer } from './access.ts';

/** `fingerprint` tells one certificate from another; the rest names its holder across renewals. */
export type CertificatePlace = 'cn' | 'san_dns' | 'san_uri' | 'fingerprint';

/** Undefined for a certificate that names nobody there, or several: another place must not choose who it counts as. */
export function consumerOfCertificate(
  certificate: ClientCertificate,
  place: CertificatePlace,
  scopes: ReadonlySet<string>,
  prefixes?: IdPrefixes,
): Consumer | undefined {
  const named = idIn(certificate, place);
  const id = named === undefined ? undefined : idNamed(named, prefixes);
  if (id === undefined) return undefined;
  return { id, named: true, via: 'certificate', scopes, claims: {}, ends: certificate.ends };
}

function idIn(
  { commonName, dnsNames, uris, fingerprint }: ClientCertificate,
  place: CertificatePlace,
): string | undefined {
  switch (place) {
    case 'cn':
      return commonName;
    case 'san_dns':
      return onlyOne(dnsNames);
    case 'san_uri':
      return onlyOne(uris);
    case 'fingerprint':
      return fingerprint;
    default:
      return place satisfies never;
  }
}

function onlyOne(names: readonly string[]): string | undefined {
  return names.length === 1 ? names[0] : undefined;
}
