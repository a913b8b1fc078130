// The input of section checks: the well-formed parts of a policy file, and the facts of the gateway that checks use.
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
  /** In file order, malformed labels included. */
  readonly labels: readonly string[];
  /** By label. An API without versions is its own single version. */
  readonly versions: ReadonlyMap<string, VersionParts>;
  readonly upstreamNames: readonly string[];
  /** By label of a version with an OpenAPI description: whether it allows a form as the body of a POST. */
  readonly takesForms: Readonly<Record<string, boolean>>;
}

/** The gateway settings and the date for checks. Undefined parts are unknown, so they are not checked. */
export interface CheckContext {
  readonly now: EpochMs;
  readonly public: string | undefined;
  readonly identities: readonly string[] | undefined;
  /** Lower-case names of the headers that carry API keys. */
  readonly keyHeaders: readonly string[];
  readonly listeners: readonly { readonly name: string; readonly address: Address }[];
  /** Undefined if the gateway's certificates restrict no host. */
  readonly certifiedNames: readonly string[] | undefined;
  readonly trustsProxies: boolean | undefined;
  /** How services read paths, for policy files that do not say. */
  readonly paths: PathsFile | undefined;
  /** Days for which the ledger keeps calls. 0: the ledger is off. */
  readonly ledgerDays: number | undefined;
}

export type Report = (path: Path, finding: Finding) => void;

/**
 * Whether the file has a value at `path`, malformed or not. Otherwise a malformed value would be reported as missing too.
 * `off` counts as absent.
 */
export function isWritten({ document }: Pick<PolicyView, 'document'>, path: Path): boolean {
  return document.has(path) && valueAt(document.value, path) !== 'off';
}

/** An API without versions has its dates at the top of the file. */
export function versionPath(label: Label): Path {
  return label === UNVERSIONED ? [] : ['versions', label];
}

/** One version and its path. */
export interface CheckedVersion {
  /** The name in messages. */
  readonly label: string;
  readonly version: VersionParts;
  readonly at: Path;
  readonly view: PolicyView;
}

export type VersionCheck = (checked: CheckedVersion, report: Report) => void;

export function checkedVersion(label: Label, version: VersionParts, view: PolicyView): CheckedVersion {
  return { label: versionName(label, view.parts), version, at: versionPath(label), view };
}

/** The name in messages: the label of a version, or the name of an API without versions. */
export function versionName(label: Label, { api = 'the API' }: Pick<PolicyParts, 'api'>): string {
  return label === UNVERSIONED ? api : label;
}

/** Whether the value at `key` of a version is inherited from its API. */
export function isInherited({ origin }: SourceDocument, label: string, key: string): boolean {
  const [own, shared] = [origin(['versions', label, key]), origin([key])];
  return own !== undefined && own.line === shared?.line && own.column === shared.column;
}

/**
 * Reports an unknown name and suggests a known one, or shows `hintOfNone` if none is known. Interpolated values are not
 * shown.
 */
export function reportUnknownName(
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
