// The rules about the dates of one policy file, in the order their findings are read.
// Called with the other checks of a file; `rules:` in the file switches each of them.
import type { PathsFile } from '../../policy/paths/section.ts';
import type { PolicyView, Report } from '../check/views.ts';
import type { VersionParts } from '../grammar/policy-grammar.ts';
import { bodyNotice } from './body-notice.ts';
import { brownoutAnnouncement } from './brownout-announcement.ts';
import { brownoutWindows } from './brownout-windows.ts';
import { defaultServed } from './default-served.ts';
import { extensionAnnouncement } from './extension-announcement.ts';
import { extensionLength } from './extension-length.ts';
import { migrationGuide } from './migration-guide.ts';
import { noticePeriod } from './notice-period.ts';
import { operationCircle } from './operation-circle.ts';
import { operationSuccessor } from './operation-successor.ts';
import { parallelVersions } from './parallel-versions.ts';
import { pathRules } from './path-rules.ts';
import { type Rule, type Subject, subjectOf } from './subject.ts';
import { successorCircle } from './successor-circle.ts';
import { successorExists } from './successor-exists.ts';
import { successorOutlives } from './successor-outlives.ts';
import { successorReleased } from './successor-released.ts';
import { sunsetOnlyLater } from './sunset-only-later.ts';
import { takenOver } from './taken-over.ts';

const VERSION_RULES: readonly Rule[] = [
  noticePeriod,
  sunsetOnlyLater,
  extensionLength,
  extensionAnnouncement,
  parallelVersions,
  successorExists,
  successorCircle,
  operationCircle,
  successorReleased,
  successorOutlives,
  operationSuccessor,
  defaultServed,
  migrationGuide,
  brownoutWindows,
  brownoutAnnouncement,
  bodyNotice,
];

/** An operation has dates and a guide of its own; extensions and what runs beside it are its version's. */
const OPERATION_RULES: readonly Rule[] = [noticePeriod, migrationGuide];

/** `paths`: what the gateway file says for policy files that do not. */
export function checkRules(view: PolicyView, paths: PathsFile | undefined, report: Report): void {
  takenOver(view, report);
  pathRules(view, paths, report);
  for (const [label, version] of view.versions) {
    const subject = subjectOf(label, version, view);
    for (const rule of VERSION_RULES) rule(subject, report);
    for (const operation of operationsOf(subject))
      for (const rule of OPERATION_RULES) rule(operation, report);
  }
}

/** Only those with a date of their own: the others share what is said of the version. */
function operationsOf({ label, version, at, view }: Subject): readonly Subject[] {
  return Object.entries(version.operations ?? {}).flatMap(([name, operation]): readonly Subject[] => {
    const { deprecated, sunset, guide } = operation;
    if (deprecated === undefined && sunset === undefined) return [];
    const told: VersionParts =
      deprecated === undefined
        ? { deprecated: version.deprecated, announced: version.announced }
        : { deprecated };
    const own: VersionParts = { ...told, sunset, guide: guide ?? version.guide };
    return [{ label: `${label} ${name}`, version: own, at: [...at, 'operations', name], view }];
  });
}
