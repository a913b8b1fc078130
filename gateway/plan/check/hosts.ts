// Cross checks of the hosts that a policy sends clients to: its own, and those that carry the version.
import { parseLabel } from '../../policy/versioning/label.ts';
import type { PolicyView, Report } from '../../sections/view.ts';
import type { Path } from '../read/document.ts';
import { uncertified } from './certified-names.ts';

export function checkHosts(view: PolicyView, names: readonly string[] | undefined, report: Report): void {
  checkTaken(view, report);
  if (names === undefined) return;
  for (const { hosts, at, wanted } of hostsIn(view)) {
    const finding = uncertified(hosts, names);
    if (finding === undefined) continue;
    // What interpolation brought in is not quoted.
    if (view.document.isSecret(at))
      report(at, { ...finding, message: 'no certificate is for this host: no client gets through to it' });
    else report(at, { ...finding, hint: `listeners.https.tls needs a certificate with the name ${wanted}` });
  }
}

/** A host by its full name comes before the one that carries the version, which would not be read from it. */
function checkTaken(view: PolicyView, report: Report): void {
  const written = hostsIn(view);
  const versioned = new Set(written.flatMap(({ hosts, at }) => (at[0] === 'resolve' ? hosts : [])));
  for (const { at, wanted } of written) {
    if (at[0] !== 'host' || !versioned.has(wanted)) continue;
    report(at, {
      rule: 'resolve',
      message: 'the subdomain of this host names a version: requests for it would name none',
      hint: 'leave it out of host: the subdomain is served as it is',
    });
  }
}

interface WrittenHosts {
  readonly hosts: readonly string[];
  readonly at: Path;
  /** The name that would be for all of them. */
  readonly wanted: string;
}

function hostsIn({ parts, labels }: PolicyView): readonly WrittenHosts[] {
  const { host = [], resolve = [] } = parts;
  const own =
    typeof host === 'string'
      ? [{ hosts: [host], at: ['host'], wanted: host }]
      : host.map((each, index) => ({ hosts: [each], at: ['host', index], wanted: each }));
  const versioned = resolve.flatMap(({ subdomain }, index): readonly WrittenHosts[] => {
    if (subdomain === undefined) return [];
    const hosts = firstLabels(labels).map((label) => subdomain.replace('{version}', label));
    const wanted = subdomain.replace('{version}', '*');
    return [{ hosts, at: ['resolve', index, 'subdomain'], wanted }];
  });
  return [...own, ...versioned];
}

/** How each version is asked for in a host, where a label holds no dot: a full one by its major. */
function firstLabels(labels: readonly string[]): readonly string[] {
  const named = labels.flatMap((label) => {
    const parsed = parseLabel(label);
    return parsed === undefined ? [] : parsed.kind === 'date' ? [parsed.date] : [`v${parsed.major}`];
  });
  return [...new Set(named)];
}
