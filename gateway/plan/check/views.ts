// What checks see of the documents: the well-formed parts beside the positions.
import type { EpochMs } from '../../policy/contract.ts';
import type { PathsFile } from '../../policy/paths/section.ts';
import { UNVERSIONED } from '../../policy/versioning/resolution.ts';
import type { GatewayParts } from '../grammar/gateway-grammar.ts';
import { WRITTEN_LEDGER, wholeLedger } from '../grammar/ledger-section.ts';
import type { PolicyParts, VersionParts } from '../grammar/policy-grammar.ts';
import type { Problem } from '../problems.ts';
import type { Finding, Path, SourceDocument } from '../read/document.ts';
import { keysOf, valueAt } from '../read/values.ts';
import type { Address, Settings } from '../settings.ts';
import { wholeApiParts } from '../versions.ts';
import { certifiedNames } from './certified-names.ts';

export interface GatewayView {
  readonly document: SourceDocument;
  readonly parts: GatewayParts;
}

export interface PolicyView {
  readonly document: SourceDocument;
  readonly parts: PolicyParts;
  readonly unversioned: boolean;
  /** Every label written, well formed or not, in the order written. */
  readonly labels: readonly string[];
  /** By label; an API without versions is its own only one. */
  readonly versions: ReadonlyMap<string, VersionParts>;
  /** Every upstream written. */
  readonly upstreamNames: readonly string[];
  /** By label of a version with a description: whether that lets a POST carry a form. */
  readonly takesForms: Readonly<Record<string, boolean>>;
}

/** What a policy file is checked against: the gateway's side and the day. Undefined parts are not known and not checked. */
export interface Surroundings {
  readonly now: EpochMs;
  readonly public: string | undefined;
  readonly identities: readonly string[] | undefined;
  /** Lower-case names of the headers that carry API keys. */
  readonly keyHeaders: readonly string[];
  readonly listeners: readonly { readonly name: string; readonly address: Address }[];
  /** Undefined where no client is held to the names of certificates. */
  readonly certifiedNames: readonly string[] | undefined;
  readonly trustsProxies: boolean | undefined;
  /** How services read paths, for policy files that do not say. */
  readonly paths: PathsFile | undefined;
  /** Days for which calls are kept; 0: none are counted. */
  readonly ledgerDays: number | undefined;
}

export type Report = (path: Path, finding: Finding) => void;

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

export function surroundingsOf(settings: Settings): Omit<Surroundings, 'now'> {
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

/** The same from a gateway file that may have problems elsewhere; nothing is known where there is none. */
export function surroundingsOfView(view: GatewayView | undefined, now: EpochMs): Surroundings {
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
  return ledger === 'off' ? 0 : (ledger?.keep ?? wholeLedger.parse(WRITTEN_LEDGER).keep);
}

function listenersOf(
  byName: Readonly<Record<string, { readonly address: Address } | undefined>>,
): Surroundings['listeners'] {
  return Object.entries(byName).flatMap(([name, listener]) =>
    listener === undefined ? [] : [{ name, address: listener.address }],
  );
}

/**
 * Whether anything is written at `path`, well formed or not: a malformed value is reported once, not as missing too.
 * `off` says that there is nothing.
 */
export function isWritten({ document }: Pick<PolicyView, 'document'>, path: Path): boolean {
  return document.has(path) && valueAt(document.value, path) !== 'off';
}
