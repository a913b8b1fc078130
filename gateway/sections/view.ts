// What the checks of a section see: the well-formed parts of a policy file, where they stand, and what surrounds the file.
import type { Finding, Path, SourceDocument } from '../plan/read/document.ts';
import { suggestOrList } from '../plan/read/shape-issues.ts';
import { valueAt } from '../plan/read/values.ts';
import type { Address } from '../plan/settings.ts';
import type { EpochMs } from '../policy/contract.ts';
import { type Label, UNVERSIONED } from '../policy/versioning/resolution.ts';
import type { PolicyParts, VersionParts } from './policy-file.ts';
import type { PathsFile } from './routes/grammar.ts';

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

/**
 * Whether anything is written at `path`, well formed or not: a malformed value is reported once, not as missing too.
 * `off` says that there is nothing.
 */
export function isWritten({ document }: Pick<PolicyView, 'document'>, path: Path): boolean {
  return document.has(path) && valueAt(document.value, path) !== 'off';
}

/** What an API without versions says of its life stands at the top of its file, where other APIs say it of all. */
export function versionPath(label: Label): Path {
  return label === UNVERSIONED ? [] : ['versions', label];
}

/** One version as it is written, and where. */
export interface CheckedVersion {
  /** As problems name it. */
  readonly label: string;
  readonly version: VersionParts;
  readonly at: Path;
  readonly view: PolicyView;
}

export type VersionCheck = (checked: CheckedVersion, report: Report) => void;

export function checkedVersion(label: Label, version: VersionParts, view: PolicyView): CheckedVersion {
  return { label: versionName(label, view.parts), version, at: versionPath(label), view };
}

/** As problems name it: a version by its label, an API without versions by its name. */
export function versionName(label: Label, { api = 'the API' }: Pick<PolicyParts, 'api'>): string {
  return label === UNVERSIONED ? api : label;
}

/** Whether a version has at `key` what the API says for all its versions. */
export function isTakenOver({ origin }: SourceDocument, label: string, key: string): boolean {
  const [own, shared] = [origin(['versions', label, key]), origin([key])];
  return own !== undefined && own.line === shared?.line && own.column === shared.column;
}

/**
 * Reports a name that nothing bears, with what it may have meant, else `hintOfNone` where nothing is `known`. What
 * interpolation brought in is not quoted, and no hint hints at it.
 */
export function reportDangling(
  path: Path,
  noun: string,
  name: string,
  known: readonly string[],
  view: Pick<PolicyView, 'document'>,
  report: Report,
  hintOfNone?: string,
): void {
  const shown = view.document.show(path, name);
  const hint = view.document.isSecret(path)
    ? undefined
    : (suggestOrList(name, known) ?? (known.length === 0 ? hintOfNone : undefined));
  report(path, { rule: 'reference', message: `no ${noun} is called ${shown}`, hint });
}
