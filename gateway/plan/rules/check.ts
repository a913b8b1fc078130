// The rules about the dates of one policy file, in the order their findings are read.
import { dayOf } from '../../policy/notation.ts';
import { compareLabels } from '../../policy/versioning/label.ts';
import { SECTIONS } from '../../sections/list.ts';
import type { VersionParts } from '../../sections/policy-file.ts';
import { whoGetsDefault } from '../../sections/resolve/pin.ts';
import type { PathsFile } from '../../sections/routes/grammar.ts';
import { effectiveSunset, redirectChain, successorOf } from '../../sections/schedule/redirects.ts';
import type { PolicyView, Report } from '../../sections/view.ts';
import { isTakenOver, ownInstead } from '../inherited.ts';
import { isMap, valueAt } from '../read/values.ts';
import { brownoutAnnouncement, brownoutWindows } from './brownout-windows.ts';
import { bodyNotice, migrationGuide, noticePeriod, parallelVersions } from './deprecation-rules.ts';
import { extensionAnnouncement, extensionLength, sunsetOnlyLater } from './extension-rules.ts';
import { operationCircle, operationSuccessor } from './operation-rules.ts';
import { pathRules } from './path-rules.ts';
import { type Rule, type Subject, subjectOf } from './subject.ts';
import { successorCircle, successorExists, successorOutlives, successorReleased } from './successor-rules.ts';

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

/** Keys of an API that do nothing where each version has its own. */
const ANNOUNCED_TO_ALL: readonly string[] = SECTIONS.flatMap(({ inherited = {}, mayBeOverridden }) =>
  mayBeOverridden ? [] : Object.keys(inherited),
);

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

/** What a file says of the end of its API as a whole holds for some version of it. */
function takenOver({ document, labels }: PolicyView, report: Report): void {
  // What is no map may have been meant to take everything over.
  const areMaps = labels.every((label) => isMap(valueAt(document.value, ['versions', label])));
  if (labels.length === 0 || !areMaps) return;
  for (const key of ANNOUNCED_TO_ALL) {
    if (!document.has([key]) || labels.some((label) => isTakenOver(document, label, key))) continue;
    report([key], {
      rule: 'taken-over',
      message: `${key} does nothing here: every version says ${ownInstead(key).join(' or ')} of its own`,
      hint: 'write it in the version it is meant for, or take it out',
      at: 'key',
    });
  }
}

/** VER-3: once the default has ended, requests that name no version get 410. */
function defaultServed({ label, version, view }: Subject, report: Report): void {
  const { resolve = [] } = view.parts;
  const index = resolve.findIndex((entry) => entry.default === label);
  const ends = effectiveSunset(version);
  const who = whoGetsDefault(view.parts);
  // What has ended is served on where the API is only observed.
  if (index < 0 || ends === undefined || who === undefined || view.parts.mode === 'observe') return;
  const next = outliving(label, view);
  const isPlaced = resolve.some(({ path, subdomain }) => path !== undefined || subdomain !== undefined);
  if (next === undefined || (isPlaced && isLedOn(label, view))) return;
  report(['resolve', index, 'default'], {
    rule: 'default-served',
    message: `${label} ends on ${dayOf(ends)}: from then on ${who} gets 410`,
    hint: `default: ${next} by that day`,
  });
}

/** Where callers of a version may go once it ends: by its successors, else to the newest version served then. */
function outliving(label: string, { versions }: PolicyView): string | undefined {
  const ends = endOf(label, versions);
  const isServed = (other: string) => {
    const { released } = versions.get(other) ?? {};
    return released !== undefined && released <= ends && endOf(other, versions) > ends;
  };
  const next = (from: string) => successorOf(versions.get(from));
  const passed = new Set([label]);
  for (let at = next(label); at !== undefined && !passed.has(at); at = next(at)) {
    if (isServed(at)) return at;
    passed.add(at);
  }
  return [...versions.keys()].filter(isServed).sort(compareLabels).at(-1);
}

/** Whether a redirect takes over when it ends. */
function isLedOn(label: string, { versions }: PolicyView): boolean {
  const chain = redirectChain(label, versions);
  return chain.kind === 'hops' && chain.hops.some(({ until }) => until > endOf(label, versions));
}

function endOf(label: string, versions: PolicyView['versions']): number {
  return effectiveSunset(versions.get(label) ?? {}) ?? Number.POSITIVE_INFINITY;
}
