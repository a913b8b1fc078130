// The contract between the plan and a section, which is one group of policy keys.
import type { ApiPlan, VersionRules } from '../plan/plan.ts';
import type { Path, SourceDocument } from '../plan/read/document.ts';
import type { Settings } from '../plan/settings.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { Schedule } from '../policy/lifecycle/schedule.ts';
import type { Label } from '../policy/versioning/resolution.ts';
import type { Fact } from './facts.ts';
import type { OperationFile, PolicyFile, UpstreamFile, VersionFile } from './policy-file.ts';
import type { CheckContext, PolicyView, Report } from './view.ts';

export interface Section {
  /** Inherited keys, each with the version keys that stop its inheritance. */
  readonly inherited?: Readonly<Record<string, readonly string[]>>;
  /** Whether the API may have such a key although all its versions have their own. */
  readonly mayBeOverridden?: true;
  /** Keys without effect in an API without versions. */
  readonly needsVersions?: readonly Path[];
  /** Keys without effect in an API without versions that is never deprecated. */
  readonly needsDeprecation?: readonly Path[];
  readonly check?: (view: PolicyView, context: CheckContext, report: Report) => void;
  /** Past and future instants at which `check` may give another result for the same file. */
  readonly checkedAgainAt?: (view: PolicyView) => readonly (EpochMs | undefined)[];
  readonly compileApi?: (file: PolicyFile, settings: Settings) => Partial<ApiPlan>;
  readonly compileVersion?: (input: VersionInput) => Partial<VersionRules>;
  /** The fields of the plan that depend on dates. */
  readonly compileDated?: (input: DatedInput) => Partial<VersionRules>;
  /** The operation's own rules, with those inherited from its version. */
  readonly compileOperation?: (input: OperationInput) => Partial<VersionRules>;
  /** Keys with defaults that apply even if the key is absent. */
  readonly alwaysInForce?: readonly string[];
  /** The key that a single value sets if it is written in place of a map. */
  readonly shorthands?: Readonly<Record<string, string>>;
  /** Keys that `config show --defaults` shows unchanged, because their defaults are not in the grammar. */
  readonly leftAsWritten?: readonly string[];
  /** The values for `sundial config show --defaults`. `values`: a policy file with its defaults. */
  readonly effective?: (values: unknown) => EffectiveValues;
  readonly words?: Words;
}

export interface EffectiveValues {
  readonly values: unknown;
  /** Where the file contains the value that is shown at `path`. */
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
  /** With the dates announced by then. */
  readonly schedule: Schedule;
  /** Undefined for the whole version. */
  readonly operation: { readonly name: string; readonly written: OperationFile } | undefined;
}

export interface OperationInput extends Pick<VersionInput, 'file' | 'version'> {
  readonly operation: OperationFile;
  /** The rules of its version. An inherited rule is the same object, so that pages show it only at the version. */
  readonly rules: VersionRules;
}

/** The facts that `sundial diff` compares, by key. A key without facts is compared as written. */
export interface Words extends Facts {
  /** Defaults of keys without facts: writing a default is no difference. */
  readonly defaults?: { readonly [K in keyof KeyOwners]?: Readonly<Record<string, unknown>> };
}

export type Facts = { readonly [K in keyof KeyOwners]?: FactsByKey<KeyOwners[K]> };

/** `at`: the path of the map that contains the key. */
export type FactsByKey<Holder> = Readonly<
  Record<string, (holder: Holder, document: SourceDocument, at: Path) => readonly Fact[]>
>;

/** The maps that may contain keys. Inherited keys have facts in versions, whether the API has them or not. */
export interface KeyOwners {
  readonly ofApi: PolicyFile;
  readonly ofVersion: VersionFile;
  readonly ofOperation: OperationFile & { readonly version: VersionFile };
  readonly ofUpstream: UpstreamFile & { readonly file: PolicyFile };
}
