// The input of a merge of a policy version and its description, made by merge.ts.
import type { EpochMs } from '../../policy/contract.ts';
import { dayOf, parseInstant } from '../../policy/notation.ts';
import type { NextCommand } from '../next-command.ts';
import type { Problem } from '../problems.ts';
import type { Finding, Path, SourceDocument } from '../read/document.ts';
import { valueAt } from '../read/values.ts';
import type { VersionNotes } from '../version-notes.ts';
import type { Borrowed } from './borrowed.ts';
import type { Description } from './description.ts';
import type { Mark, Said, SaidDay } from './description-text.ts';
import type { Placement } from './placement.ts';

/** A finding of a switchable rule, and how it becomes a problem at its place. */
export interface DescriptionFinding {
  readonly finding: Finding;
  readonly place: (finding: Finding) => Problem;
}

export interface MergedDescription {
  readonly borrowed: readonly Borrowed[];
  readonly findings: readonly DescriptionFinding[];
  readonly notes: VersionNotes | undefined;
}

export interface Merging {
  readonly document: SourceDocument;
  readonly description: Description;
  readonly placement: Placement;
  /** Where the version stands in the policy. */
  readonly at: Path;
  /** Stands for what the policy does not say at `path`. */
  readonly borrow: (path: Path, said: Said<unknown>) => void;
  /** A finding at a place in the policy. */
  readonly atPolicy: (path: Path, finding: Finding) => void;
  /** A finding at a place in the description. */
  readonly atDescription: (mark: Mark, finding: Finding) => void;
  readonly next: NextCommand;
  /** The description must not have dates that are announced after this instant. */
  readonly now: EpochMs;
}

/** The text written at `path` of the policy; undefined for anything else. */
export function policyText({ document }: Merging, path: Path): string | undefined {
  const value = valueAt(document.value, path);
  return typeof value === 'string' ? value : undefined;
}

/** Whether the policy says that the version has none of what stands there, as `null` does in a description. */
export function isOff(merging: Merging, path: Path): boolean {
  return policyText(merging, path) === 'off';
}

/** A day in the policy, and where it is written. */
export interface WrittenDay {
  readonly day: string | null;
  readonly path: Path;
  /** The policy has a day, and announces it later. */
  readonly isEarly?: true;
}

/** The first day of the places that is well formed. */
export function firstDay(merging: Merging, places: readonly Path[]): WrittenDay | undefined {
  for (const path of places) {
    const text = policyText(merging, path);
    const instant = text === undefined ? undefined : parseInstant(text);
    if (instant !== undefined) return { day: dayOf(instant), path };
  }
  return undefined;
}

/** Takes a described day over to `open`, and reports a written day that differs. `null` means: no such day. */
export function mergeDay(
  merging: Merging,
  what: string,
  said: SaidDay,
  written: WrittenDay | undefined,
  open: Path | undefined,
): void {
  if (said === undefined) return;
  if (open !== undefined && said.value !== null) merging.borrow(open, said);
  if (written !== undefined && written.day !== said.value)
    disagree(merging, written.path, what, said, written.isEarly ? ' before its announcement' : '');
}

/** The two say different things of one matter; shown at the policy's line, with the place of the other. */
export function disagree(
  merging: Merging,
  path: Path,
  what: string,
  said: Said<string | null>,
  when = '',
): void {
  const { description, atPolicy, placement, next } = merging;
  const api = policyText(merging, ['api']) ?? '<api>';
  atPolicy(path, {
    rule: 'description-agrees',
    message: `${what} is ${said.value ?? 'null'} in the description${when}`,
    hint: `${description.source.place(said.mark)}; \`${next('openapi', api, placement.label, '--write')}\` brings it up to date`,
  });
}

/** Whether a later date is written before an earlier one, which is then reported: OAS-2, sunset >= deprecation >= introduced. */
export function isDisordered(
  { atDescription }: Merging,
  firstName: string,
  first: SaidDay,
  secondName: string,
  second: SaidDay,
): boolean {
  if (typeof first?.value !== 'string' || typeof second?.value !== 'string') return false;
  if (second.value >= first.value) return false;
  const message = `${secondName} (${second.value}) is before ${firstName} (${first.value})`;
  atDescription(second.mark, { rule: 'description-dates', message });
  return true;
}
