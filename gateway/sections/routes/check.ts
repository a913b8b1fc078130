// Checks `host`: conflicts with version subdomains, and certificates.
import type { Finding, Path } from '../../plan/read/document.ts';
import { parseLabel } from '../../policy/versioning/label.ts';
import type { CheckContext, PolicyView, Report } from '../view.ts';

export function checkRoutes(view: PolicyView, { certifiedNames }: CheckContext, report: Report): void {
  const { host = [] } = view.parts;
  const versioned = new Set(
    (view.parts.resolve ?? []).flatMap(({ subdomain }) => hostsOfVersions(subdomain, view)),
  );
  for (const [index, each] of [host].flat().entries()) {
    const at = typeof host === 'string' ? ['host'] : ['host', index];
    // An exact host wins over the subdomain pattern, so the version would not be read from it.
    if (versioned.has(each)) {
      report(at, {
        rule: 'resolve',
        message: 'the subdomain of this host is a version, but requests for this host would have no version',
        hint: 'remove it from host: the subdomain carrier serves it anyway',
      });
    }
    checkCertified({ hosts: [each], at, wanted: each }, certifiedNames, view, report);
  }
}

/** The host of each version. A subdomain cannot contain a dot, so that of a semantic version names only the major. */
export function hostsOfVersions(subdomain: string | undefined, { labels }: PolicyView): readonly string[] {
  const named = labels.flatMap((label) => {
    const parsed = parseLabel(label);
    return parsed === undefined ? [] : parsed.kind === 'date' ? [parsed.date] : [`v${parsed.major}`];
  });
  return subdomain === undefined
    ? []
    : [...new Set(named)].map((name) => subdomain.replace('{version}', name));
}

interface WrittenHosts {
  readonly hosts: readonly string[];
  readonly at: Path;
  /** The wildcard or name that would cover them all. */
  readonly wanted: string;
}

/** Reports hosts without a certificate: TLS-3 and TLS-4 refuse their connections and requests. */
export function checkCertified(
  { hosts, at, wanted }: WrittenHosts,
  names: readonly string[] | undefined,
  { document }: PolicyView,
  report: Report,
): void {
  const finding = uncertified(hosts, names);
  if (finding === undefined) return;
  // Interpolated values are not shown.
  if (document.isSecret(at))
    report(at, { ...finding, message: 'no certificate covers this host: clients cannot connect' });
  else report(at, { ...finding, hint: `listeners.https.tls needs a certificate with the name ${wanted}` });
}

/** Without a certificate a name fails the handshake and an address gets 421. `host` has no port. */
export function uncertified(
  hosts: readonly string[],
  names: readonly string[] | undefined,
): Finding | undefined {
  if (names === undefined) return undefined;
  const missing = hosts
    .map((host) => host.replace(/^\[|\]$/g, ''))
    .filter((host) => !isCertified(host, names));
  if (missing.length === 0) return undefined;
  return {
    rule: 'certificate',
    severity: 'warning',
    message: `no certificate covers ${missing.slice(0, 3).join(', ')}: clients cannot connect`,
  };
}

function isCertified(host: string, names: readonly string[]): boolean {
  return names.includes(host) || names.includes(host.replace(/^[^.]+/, '*'));
}
