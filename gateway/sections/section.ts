// The contract of a section: what the plan asks of one group of policy keys. Every part is optional.
import type { ApiPlan } from '../plan/plan.ts';
import type { Path, SourceDocument } from '../plan/read/document.ts';
import type { Settings } from '../plan/settings.ts';
import type { Fact } from './facts.ts';
import type { PolicyFile } from './policy-file.ts';

export interface Section {
  readonly compileApi?: (file: PolicyFile, settings: Settings) => Partial<ApiPlan>;
  readonly words?: Words;
}

/** What `sundial diff` compares, by key. A key without facts is compared as it is written. */
export type Words = { readonly [K in keyof Holders]?: FactsByKey<Holders[K]> };

/** `at`: where the holder of the key stands in the file. */
export type FactsByKey<Holder> = Readonly<
  Record<string, (holder: Holder, document: SourceDocument, at: Path) => readonly Fact[]>
>;

/** What may have keys. */
export interface Holders {
  readonly ofApi: PolicyFile;
}
