// The contract of a section: what the plan asks of one group of policy keys. Every part is optional.
import type { ApiPlan, VersionRules } from '../plan/plan.ts';
import type { Path, SourceDocument } from '../plan/read/document.ts';
import type { Settings } from '../plan/settings.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { Schedule } from '../policy/lifecycle/schedule.ts';
import type { Label } from '../policy/versioning/resolution.ts';
import type { Fact } from './facts.ts';
import type { OperationFile, PolicyFile, UpstreamFile, VersionFile } from './policy-file.ts';
import type { PolicyView, Report, Surroundings } from './view.ts';

export interface Section {
  /** Keys that versions take over from their API, each with the keys by which a version has its own instead. */
  readonly inherited?: Readonly<Record<string, readonly string[]>>;
  /** Whether such a key may stand in an API all of whose versions have their own. */
  readonly mayBeOverridden?: true;
  /** Places that do nothing in an API without versions. */
  readonly needsVersions?: readonly Path[];
  /** Places that do nothing in an API without versions that is never deprecated. */
  readonly needsDeprecation?: readonly Path[];
  readonly check?: (view: PolicyView, around: Surroundings, report: Report) => void;
  /** Instants, past or to come, from which on `check` finds something else in the same file. */
  readonly checkedAgainAt?: (view: PolicyView) => readonly (EpochMs | undefined)[];
  readonly compileApi?: (file: PolicyFile, settings: Settings) => Partial<ApiPlan>;
  readonly compileVersion?: (input: VersionInput) => Partial<VersionRules>;
  /** What of a version or an operation depends on its dates. */
  readonly compileDated?: (input: DatedInput) => Partial<VersionRules>;
  /** What an operation has of its own, and what it takes over from its version. */
  readonly compileOperation?: (input: OperationInput) => Partial<VersionRules>;
  /** Keys whose defaults hold whether the key is written or not. */
  readonly alwaysInForce?: readonly string[];
  /** The key that is meant by one value in the place of a map. */
  readonly shorthands?: Readonly<Record<string, string>>;
  /** Keys that `config show --defaults` shows as written: their defaults stand elsewhere. */
  readonly leftAsWritten?: readonly string[];
  /** What `sundial config show --defaults` shows. `values`: those of a policy file, defaults filled in. */
  readonly effective?: (values: unknown) => EffectiveValues;
  readonly words?: Words;
}

export interface EffectiveValues {
  readonly values: unknown;
  /** Where what stands at `path` is written in fact. */
  readonly real: (path: Path) => Path;
}

export interface VersionInput {
  readonly file: PolicyFile;
  readonly settings: Settings;
  readonly label: Label;
  readonly version: VersionFile;
  readonly ofApi: Pick<ApiPlan, 'access'>;
}

export interface DatedInput extends Pick<VersionInput, 'file' | 'label' | 'version'> {
  /** With the dates that are announced by then. */
  readonly schedule: Schedule;
  /** Undefined for the version as a whole. */
  readonly operation: { readonly name: string; readonly written: OperationFile } | undefined;
}

export interface OperationInput extends Pick<VersionInput, 'file' | 'version'> {
  readonly operation: OperationFile;
  /** Those of its version. A rule that is taken over is the same object: pages then show it at the version only. */
  readonly rules: VersionRules;
}

/** What `sundial diff` compares, by key. A key without facts is compared as it is written. */
export interface Words extends Facts {
  /** What holds where a key without facts is not written: writing it out is no change. */
  readonly defaults?: { readonly [K in keyof Holders]?: Readonly<Record<string, unknown>> };
}

export type Facts = { readonly [K in keyof Holders]?: FactsByKey<Holders[K]> };

/** `at`: where the holder of the key stands in the file. */
export type FactsByKey<Holder> = Readonly<
  Record<string, (holder: Holder, document: SourceDocument, at: Path) => readonly Fact[]>
>;

/** What may have keys. Of inherited keys versions have the facts, whether or not the API has them too. */
export interface Holders {
  readonly ofApi: PolicyFile;
  readonly ofVersion: VersionFile;
  readonly ofOperation: OperationFile & { readonly version: VersionFile };
  readonly ofUpstream: UpstreamFile & { readonly file: PolicyFile };
}
