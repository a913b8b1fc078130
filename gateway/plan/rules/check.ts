// Checks one policy file: the checks of each section, then the rules across sections.
import { INHERITED, SECTIONS } from '../../sections/list.ts';
import type { VersionParts } from '../../sections/policy-file.ts';
import { pathsOf } from '../../sections/routes/compile.ts';
import {
  type CheckContext,
  type CheckedVersion,
  checkedVersion,
  isInherited,
  isWritten,
  type PolicyView,
  type Report,
  type VersionCheck,
} from '../../sections/view.ts';
import type { Path } from '../read/document.ts';
import { isMap, valueAt } from '../read/values.ts';
import { reservedPath } from '../routes/reserved-paths.ts';
import { brownoutAnnouncement, brownoutWindows } from './brownout-windows.ts';
import { bodyNotice, migrationGuide, noticePeriod, parallelVersions } from './deprecation-rules.ts';
import { extensionAnnouncement, extensionLength, sunsetOnlyLater } from './extension-rules.ts';
import { methodOverride } from './method-override.ts';
import { operationCycle, operationSuccessor } from './operation-rules.ts';
import { pathRules } from './path-rules.ts';
import { successorCycle, successorExists, successorOutlives, successorReleased } from './successor-rules.ts';
import { switchedReport } from './switch.ts';

const VERSION_RULES: readonly VersionCheck[] = [
  noticePeriod,
  sunsetOnlyLater,
  extensionLength,
  extensionAnnouncement,
  parallelVersions,
  successorExists,
  successorCycle,
  operationCycle,
  successorReleased,
  successorOutlives,
  operationSuccessor,
  migrationGuide,
  brownoutWindows,
  brownoutAnnouncement,
  bodyNotice,
];

/** Operations have their own dates and guide. Extensions and parallel versions belong to the version. */
const OPERATION_RULES: readonly VersionCheck[] = [noticePeriod, migrationGuide];

/** Keys of the API that only have an effect if some version inherits them. */
const INHERITED_KEYS: readonly string[] = SECTIONS.flatMap(({ inherited = {}, mayBeOverridden }) =>
  mayBeOverridden ? [] : Object.keys(inherited),
);

export function checkPolicy(view: PolicyView, context: CheckContext, reportAll: Report): void {
  const report = switchedReport(view.parts.rules, reportAll);
  checkInheritedKeys(view, report);
  if (view.unversioned) checkUnversioned(view, report);
  for (const { check } of SECTIONS) check?.(view, context, report);
  pathRules(view, context.paths, report);
  for (const [label, version] of view.versions) {
    const subject = checkedVersion(label, version, view);
    for (const rule of VERSION_RULES) rule(subject, report);
    for (const operation of operationsOf(subject))
      for (const rule of OPERATION_RULES) rule(operation, report);
  }
  methodOverride(view, report);
  checkReservedPaths(view, report);
}

/** Operations with a date of their own. Findings of the version cover the others. */
function operationsOf({ label, version, at, view }: CheckedVersion): readonly CheckedVersion[] {
  return Object.entries(version.operations ?? {}).flatMap(([name, operation]): readonly CheckedVersion[] => {
    const { deprecated, sunset, guide } = operation;
    if (deprecated === undefined && sunset === undefined) return [];
    const announcement: VersionParts =
      deprecated === undefined
        ? { deprecated: version.deprecated, announced: version.announced }
        : { deprecated };
    const own: VersionParts = { ...announcement, sunset, guide: guide ?? version.guide };
    return [{ label: `${label} ${name}`, version: own, at: [...at, 'operations', name], view }];
  });
}

/** Rule taken-over: at least one version inherits each of these keys. */
function checkInheritedKeys({ document, labels }: PolicyView, report: Report): void {
  // A version that is not a map may have been meant to inherit everything.
  const areMaps = labels.every((label) => isMap(valueAt(document.value, ['versions', label])));
  if (labels.length === 0 || !areMaps) return;
  for (const key of INHERITED_KEYS) {
    if (!document.has([key]) || labels.some((label) => isInherited(document, label, key))) continue;
    report([key], {
      rule: 'taken-over',
      message: `${key} has no effect: every version has ${INHERITED[key]?.join(' or ')} of its own`,
      hint: 'move it to the version it applies to, or remove it',
      at: 'key',
    });
  }
}

/** Reports keys that need versions or a deprecation, which this API does not have. */
function checkUnversioned(view: PolicyView, report: Report): void {
  const versionAs = view.upstreamNames.map((name) => ['upstreams', name, 'version_as']);
  const needVersions = [...SECTIONS.flatMap(({ needsVersions = [] }) => needsVersions), ...versionAs];
  const needDeprecation = SECTIONS.flatMap(({ needsDeprecation = [] }) => needsDeprecation);
  const reportKeys = (paths: readonly Path[], where: string) => {
    for (const path of paths.filter((each) => isWritten(view, each))) {
      report(path, {
        rule: 'unversioned',
        message: `${path.at(-1)} has no effect in an API ${where}`,
        at: 'key',
      });
    }
  };
  reportKeys(needVersions, 'with "versions: none"');
  if (!isWritten(view, ['deprecated']))
    reportKeys(needDeprecation, 'with "versions: none" and no deprecation date');
}

/** The gateway answers reserved paths itself, so an API there would get no requests. */
function checkReservedPaths(view: PolicyView, report: Report): void {
  for (const { path, at } of pathsOf(view.parts)) {
    const reserved = reservedPath(path);
    if (reserved === undefined) continue;
    report(at, { rule: 'reserved', message: `${reserved} is reserved by the gateway` });
  }
}
