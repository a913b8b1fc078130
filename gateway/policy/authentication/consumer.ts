// Builds the consumer from verified claims or from a client certificate.
import type { EpochMs } from '../contract.ts';
import { type IdPrefixes, idNamed } from '../notation.ts';
import type { ClientCertificate, Consumer } from './access.ts';

/** Claims that name an application. Their values are few and known to the operator, so they may label a metric. */
const APPLICATION_CLAIMS: ReadonlySet<string> = new Set(['client_id', 'azp']);

/**
 * The consumer named by the first of `claimNames` that the token has. Undefined if the token has none of them, or if the
 * value of that first claim is no valid id. It does not try the next claim, because a token could then choose the name
 * under which it is counted.
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
  return { id, mayLabelMetrics: APPLICATION_CLAIMS.has(name), via: 'token', scopes, claims, prefixes };
}

/** JWT-7: one string of scopes separated by spaces, compared as whole words and by case. An array is not accepted. */
function scopesOf(scope: unknown): ReadonlySet<string> {
  if (typeof scope !== 'string') return new Set();
  return new Set(scope.split(' ').filter((word) => word !== ''));
}

/** `fingerprint` identifies one certificate. The other places identify its holder across renewals. */
export type CertificatePlace = 'cn' | 'san_dns' | 'san_uri' | 'fingerprint';

/**
 * Undefined if that place holds no name or several. It does not try another place, because a certificate could then choose
 * its id.
 */
export function consumerOfCertificate(
  certificate: ClientCertificate,
  place: CertificatePlace,
  scopes: ReadonlySet<string>,
  prefixes?: IdPrefixes,
): Consumer | undefined {
  const named = idIn(certificate, place);
  const id = named === undefined ? undefined : idNamed(named, prefixes);
  if (id === undefined) return undefined;
  return { id, mayLabelMetrics: true, via: 'certificate', scopes, claims: {}, ends: certificate.ends };
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

/** The first instant at which the same token, key or certificate would be refused. Undefined: it does not expire. */
export function tokenEndOf({ claims, ends }: Pick<Consumer, 'claims' | 'ends'>): EpochMs | undefined {
  const { exp } = claims;
  if (typeof exp !== 'number') return ends;
  return Math.min((exp + LEEWAY) * 1000, ends ?? Number.POSITIVE_INFINITY);
}
