// Builds the input of the checks: the well-formed parts of a document with their positions.
import type { EpochMs } from '../../policy/contract.ts';
import { UNVERSIONED } from '../../policy/versioning/resolution.ts';
import type { PolicyParts, VersionParts } from '../../sections/policy-file.ts';
import type { CheckContext, PolicyView, Report } from '../../sections/view.ts';
import type { GatewayParts } from '../grammar/gateway-grammar.ts';
import { LEDGER_DEFAULTS, wholeLedger } from '../grammar/ledger-section.ts';
import type { Problem } from '../problems.ts';
import type { SourceDocument } from '../read/document.ts';
import { keysOf, valueAt } from '../read/values.ts';
import type { Address, Settings } from '../settings.ts';
import { wholeApiParts } from '../versions.ts';

export interface GatewayView {
  readonly document: SourceDocument;
  readonly parts: GatewayParts;
}

export function reporter(document: SourceDocument, problems: Problem[]): Report {
  return (path, finding) => {
    problems.push(document.problem(path, finding));
  };
}

export function viewPolicy(
  document: SourceDocument,
  parts: PolicyParts,
  takesForms: PolicyView['takesForms'],
): PolicyView {
  const written = valueAt(document.value, ['versions']);
  const labels = keysOf(written);
  const versions = new Map<string, VersionParts>();
  const known = typeof parts.versions === 'object' ? parts.versions : {};
  for (const label of labels) versions.set(label, Object.hasOwn(known, label) ? (known[label] ?? {}) : {});
  const unversioned = written === 'none';
  if (unversioned) versions.set(UNVERSIONED, wholeApiParts(parts));
  return {
    document,
    parts,
    unversioned,
    labels,
    versions,
    upstreamNames: keysOf(valueAt(document.value, ['upstreams'])),
    takesForms,
  };
}

export function checkContextOf(settings: Settings): Omit<CheckContext, 'now'> {
  return {
    public: settings.public,
    identities: settings.identities.map(({ name }) => name),
    keyHeaders: settings.identities.flatMap((each) =>
      each.kind === 'keys' ? each.header.toLowerCase() : [],
    ),
    listeners: listenersOf({ ...settings.listeners }),
    trustsProxies: settings.trustedProxies.length > 0,
    paths: settings.paths,
    ledgerDays: settings.ledger?.keepDays ?? 0,
    certifiedNames: certifiedNames({
      ...settings,
      certificates: settings.listeners.https?.certificates ?? [],
    }),
  };
}

/** The same from a gateway file that may have problems. Values are undefined if there is no file. */
export function checkContextOfView(view: GatewayView | undefined, now: EpochMs): CheckContext {
  const identities =
    view?.document.value === undefined ? undefined : keysOf(valueAt(view.document.value, ['identity']));
  const keyHeaders = Object.values(view?.parts.identity ?? {}).flatMap((each) =>
    'header' in each ? each.header.toLowerCase() : [],
  );
  const listeners = listenersOf({ ...view?.parts.listeners });
  const { public: origin, trusted_proxies, listeners: written, paths } = view?.parts ?? {};
  const certificates = written?.https?.tls?.certificates ?? [];
  const face = { public: origin, trustedProxies: trusted_proxies ?? [], certificates };
  const ledgerDays = view === undefined ? undefined : ledgerDaysOf(view.parts);
  const names = certifiedNames(face);
  const trustsProxies = view && face.trustedProxies.length > 0;
  return {
    ...{ now, public: origin, identities, keyHeaders, listeners, certifiedNames: names },
    ...{ paths, trustsProxies, ledgerDays },
  };
}

function ledgerDaysOf({ ledger }: GatewayParts): number {
  return ledger === 'off' ? 0 : (ledger?.keep ?? wholeLedger.parse(LEDGER_DEFAULTS).keep);
}

function listenersOf(
  byName: Readonly<Record<string, { readonly address: Address } | undefined>>,
): CheckContext['listeners'] {
  return Object.entries(byName).flatMap(([name, listener]) =>
    listener === undefined ? [] : [{ name, address: listener.address }],
  );
}

/** The settings that decide whether clients see the configured certificates. */
export interface PublicTls {
  readonly public: string | undefined;
  readonly trustedProxies: readonly string[];
  readonly certificates: readonly { readonly names: readonly string[] }[];
}

/** Undefined if clients see none of these: plain HTTP, a proxy in front, or a self-signed pair. */
export function certifiedNames(face: PublicTls): readonly string[] | undefined {
  const { public: origin, trustedProxies, certificates } = face;
  if (!origin?.startsWith('https:') || trustedProxies.length > 0 || certificates.length === 0)
    return undefined;
  return certificates.flatMap(({ names }) => names);
}
