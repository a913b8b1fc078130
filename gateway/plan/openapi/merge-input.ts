// Input of the merge of a version with its description, and functions that add or compare its values.
import type { EpochMs } from '../../policy/contract.ts';
import { dayOf, parseInstant } from '../../policy/notation.ts';
import type { NextCommand } from '../next-command.ts';
import type { Problem } from '../problems.ts';
import type { Finding, Path, SourceDocument } from '../read/document.ts';
import { valueAt } from '../read/values.ts';
import type { VersionNotes } from '../version-notes.ts';
import type { AddedValue } from './added-values.ts';
import type { Description } from './description.ts';
import type { Located, LocatedDay, Mark } from './description-text.ts';
import type { Placement } from './placement.ts';

/** A finding of a switchable rule. `place` makes it a problem. */
export interface DescriptionFinding {
  readonly finding: Finding;
  readonly place: (finding: Finding) => Problem;
}

export interface MergedDescription {
  readonly added: readonly AddedValue[];
  readonly findings: readonly DescriptionFinding[];
  readonly notes: VersionNotes | undefined;
}

export interface MergeInput {
  readonly document: SourceDocument;
  readonly description: Description;
  readonly placement: Placement;
  readonly at: Path;
  /** Adds a value at `path`, which the policy leaves out. */
  readonly add: (path: Path, stated: Located<unknown>) => void;
  readonly atPolicy: (path: Path, finding: Finding) => void;
  readonly atDescription: (mark: Mark, finding: Finding) => void;
  readonly next: NextCommand;
  /** The description must not have dates that are announced after this instant. */
  readonly now: EpochMs;
}

export function policyText({ document }: MergeInput, path: Path): string | undefined {
  const value = valueAt(document.value, path);
  return typeof value === 'string' ? value : undefined;
}

/** Whether the policy has `off` at this path, like `null` in a description. */
export function isOff(input: MergeInput, path: Path): boolean {
  return policyText(input, path) === 'off';
}

export interface WrittenDay {
  readonly day: string | null;
  readonly path: Path;
  /** The policy has a day but announces it later. */
  readonly isEarly?: true;
}

export function firstDay(input: MergeInput, places: readonly Path[]): WrittenDay | undefined {
  for (const path of places) {
    const text = policyText(input, path);
    const instant = text === undefined ? undefined : parseInstant(text);
    if (instant !== undefined) return { day: dayOf(instant), path };
  }
  return undefined;
}

/** Adds a described day at `open`, and reports a day of the policy that differs. `null` means: no such day. */
export function mergeDay(
  input: MergeInput,
  what: string,
  stated: LocatedDay,
  written: WrittenDay | undefined,
  open: Path | undefined,
): void {
  if (stated === undefined) return;
  if (open !== undefined && stated.value !== null) input.add(open, stated);
  if (written !== undefined && written.day !== stated.value)
    disagree(input, written.path, what, stated, written.isEarly);
}

/** Reports a difference at the line of the policy, with the position in the description. */
export function disagree(
  input: MergeInput,
  path: Path,
  what: string,
  stated: Located<string | null>,
  isEarly = false,
): void {
  const { description, atPolicy, placement, next } = input;
  const api = policyText(input, ['api']) ?? '<api>';
  atPolicy(path, {
    rule: 'description-agrees',
    message: isEarly
      ? `the description publishes ${what} ${stated.value} before it is announced`
      : `${what} is ${stated.value ?? 'null'} in the description`,
    hint: `${description.source.place(stated.mark)}; \`${next('openapi', api, placement.label, '--write')}\` updates the description`,
  });
}

/** OAS-2: sunset >= deprecation >= introduced. Reports a wrong order and returns true. */
export function isDisordered(
  { atDescription }: MergeInput,
  firstName: string,
  first: LocatedDay,
  secondName: string,
  second: LocatedDay,
): boolean {
  if (typeof first?.value !== 'string' || typeof second?.value !== 'string') return false;
  if (second.value >= first.value) return false;
  const message = `${secondName} (${second.value}) is before ${firstName} (${first.value})`;
  atDescription(second.mark, { rule: 'description-dates', message });
  return true;
}
