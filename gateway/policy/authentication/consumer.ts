// Who calls, by verified claims or by a proven certificate: one stable id, the scopes it holds, and until when it is good.
import type { EpochMs } from '../contract.ts';
import { type IdPrefixes, idNamed } from '../notation.ts';
import type { ClientCertificate, Consumer } from './access.ts';

/** Claims that name an application, a set an operator knows, and so may label a metric. */
const APPLICATION_CLAIMS: ReadonlySet<string> = new Set(['client_id', 'azp']);

/**
 * The consumer named by the first of `claimNames` that the token has. Undefined when it has none of them, or when that
 * claim cannot be an id, or is one that another identity gives: passing on to the next claim would let a token choose who it is counted as.
 */
export function consumerFrom(
  claims: Readonly<Record<string, unknown>>,
  claimNames: readonly string[],
  prefixes?: IdPrefixes,
): Consumer | undefined {
  const name = claimNames.find((candidate) => Object.hasOwn(claims, candidate));
  if (name === undefined) return undefined;
  const named = claims[name];
  const id = typeof named === 'string' ? idNamed(named, prefixes) : undefined;
  if (id === undefined) return undefined;
  const scopes = scopesOf(claims.scope);
  return { id, named: APPLICATION_CLAIMS.has(name), via: 'token', scopes, claims, prefixes };
}

/** JWT-7: one string, scopes separated by spaces, compared whole and by case. An array is not accepted. */
function scopesOf(scope: unknown): ReadonlySet<string> {
  if (typeof scope !== 'string') return new Set();
  return new Set(scope.split(' ').filter((word) => word !== ''));
}

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

/** Seconds by which the issuer's clock may differ from ours. */
export const LEEWAY = 30;

/** The first instant at which a request with the same token, key or certificate would be refused; undefined: none. */
export function tokenEndOf({ claims, ends }: Pick<Consumer, 'claims' | 'ends'>): EpochMs | undefined {
  const { exp } = claims;
  if (typeof exp !== 'number') return ends;
  return Math.min((exp + LEEWAY) * 1000, ends ?? Number.POSITIVE_INFINITY);
}
