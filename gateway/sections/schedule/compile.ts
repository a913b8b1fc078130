// Compiles schedules, brownouts, exceptions, freeze and retire_when of versions and operations.
import type { VersionRules } from '../../plan/plan.ts';
import type { EpochMs } from '../../policy/contract.ts';
import { type BrownoutCalendar, createBrownoutCalendar } from '../../policy/lifecycle/brownout-calendar.ts';
import type { BrownoutRule, BrownoutWindow } from '../../policy/lifecycle/brownout-rule.ts';
import { expandBrownouts } from '../../policy/lifecycle/brownout-windows.ts';
import type { Exception } from '../../policy/lifecycle/exceptions.ts';
import { formatOperation } from '../../policy/lifecycle/operation-template.ts';
import type { Phase, Schedule } from '../../policy/lifecycle/schedule.ts';
import { compareLabels } from '../../policy/versioning/label.ts';
import type { Label } from '../../policy/versioning/resolution.ts';
import type { OperationFile, VersionFile } from '../policy-file.ts';
import type { VersionInput } from '../section.ts';
import { earlier, effectiveSunset, redirectChain, successorOf } from './redirects.ts';

export function endOfVersion({ version }: VersionInput): Pick<VersionRules, 'freeze' | 'retireWhen'> {
  return { freeze: version.freeze, retireWhen: version.retire_when };
}

/** Usage is judged for the whole version. */
export function endOfOperation(): Pick<VersionRules, 'retireWhen'> {
  return { retireWhen: undefined };
}

/** `published`: the URL of the API's lifecycle page. `urlOf`: the URL of a guide. */
export function compileSchedule(
  version: VersionFile,
  published: string,
  urlOf: (guide: string) => string,
): Schedule {
  const { after } = version;
  return {
    released: version.released,
    announced: version.announced,
    deprecated: version.deprecated,
    published: version.sunset,
    extended: version.extended?.map(({ to, announced }) => ({ to, announced })),
    sunset: effectiveSunset(version),
    retired: version.retired,
    forgotten: version.forgotten,
    // RET-8: the redirect target is the successor unless the file names another.
    successor: successorOf(version),
    alternate: version.alternate,
    guide: version.guide && urlOf(version.guide),
    status: version.status ?? published,
    serviceDoc: version.service_doc,
    serviceDesc: version.service_desc,
    reason: version.reason,
    after:
      typeof after === 'object'
        ? { kind: 'redirect', to: after.redirect, unsafe: after.unsafe ?? 308 }
        : { kind: 'gone' },
  };
}

/**
 * RET-11: an operation ends no later than its version. A deprecation after the end is dropped (DEP-5). The version's
 * announcement counts only for the version's own deprecation date.
 */
export function scheduleOfOperation(
  operation: OperationFile,
  { schedule, label }: VersionRules,
  urlOf: (guide: string) => string,
): Schedule {
  const { successor } = operation;
  const sunset = earlier(operation.sunset, schedule.sunset);
  const wanted = earlier(operation.deprecated, schedule.deprecated);
  const deprecated = wanted !== undefined && wanted > (sunset ?? wanted) ? undefined : wanted;
  return {
    ...schedule,
    announced: deprecated === schedule.deprecated ? schedule.announced : undefined,
    published: undefined,
    extended: undefined,
    deprecated,
    sunset,
    retired: sunset === schedule.sunset ? schedule.retired : undefined,
    successor: successor === undefined ? schedule.successor : (successor.label ?? label),
    ...(successor?.template !== undefined && { successorOperation: formatOperation(successor.template) }),
    guide: operation.guide === undefined ? schedule.guide : urlOf(operation.guide),
    reason: operation.reason ?? schedule.reason,
    after: afterOf(operation, label, schedule),
  };
}

function afterOf({ after, sunset, successor }: OperationFile, label: Label, { after: ofVersion }: Schedule) {
  if (after === 'gone' || (after === undefined && sunset !== undefined)) return { kind: 'gone' } as const;
  if (after === undefined) return ofVersion;
  return { kind: 'redirect', to: successor?.label ?? label, unsafe: 308 } as const;
}

/** `pathOf`: the URL of a version without the tail. */
export function successionOf(
  label: Label,
  versions: ReadonlyMap<Label, VersionFile>,
  pathOf: (label: Label) => string,
): Pick<VersionRules, 'predecessors' | 'successorPath' | 'successorTail' | 'redirects'> {
  const successor = versions.get(label)?.successor;
  const older = [...versions].filter(([, each]) => successorOf(each) === label);
  const chain = redirectChain(label, versions);
  const hops = chain.kind === 'cycle' ? [] : chain.hops;
  return {
    predecessors: older.map(([each]) => each).sort((a, b) => compareLabels(b, a)),
    successorPath: successor && pathOf(successor),
    successorTail: undefined,
    redirects: hops.map(({ label: to }) => ({ label: to, path: pathOf(to), tail: undefined })),
  };
}

/** `known`: brownouts announced by this instant are included. */
type Brownouts = (
  dates: Pick<Schedule, 'deprecated' | 'sunset'>,
  known: EpochMs,
) => BrownoutCalendar | undefined;

/**
 * The windows of the announced rules, none before its announcement. Undefined without windows or without both dates.
 * Windows for equal dates are cached, because each needs a time zone lookup.
 */
export function compileBrownouts(rules: readonly BrownoutRule[] = []): Brownouts {
  const cachedWindows = new Map<string, readonly BrownoutWindow[]>();
  return ({ deprecated, sunset }, known) => {
    if (rules.length === 0 || deprecated === undefined || sunset === undefined) return undefined;
    const expand = () => expandBrownouts(rules, { deprecated, sunset });
    const windows = cachedWindows.getOrInsertComputed(`${deprecated} ${sunset}`, expand);
    const announced = windows
      .filter((window) => window.announced <= known && window.announced < window.until)
      .map((window) => ({ ...window, from: Math.max(window.from, window.announced) }));
    return announced.length === 0 ? undefined : createBrownoutCalendar(announced);
  };
}

/**
 * An exception from the sunset puts the consumer's own end into its headers. `mayOutlast` is false for an operation with
 * its own sunset, because the exception is for the version, and for a version without an upstream.
 */
export function compileExceptions(
  exceptions: VersionFile['exceptions'],
  schedule: Schedule,
  phasesOf: (schedule: Schedule) => readonly Phase[],
  mayOutlast: boolean,
): readonly Exception[] {
  return (exceptions ?? []).map(({ consumer, until, from, why, by }) => {
    const outlasts = mayOutlast && from.includes('sunset');
    return {
      consumer,
      until,
      from: outlasts ? from : from.filter((each) => each !== 'sunset'),
      why,
      by,
      phases: phasesOf(outlasts ? { ...schedule, sunset: until, retired: undefined } : schedule),
    };
  });
}

/**
 * Adds the rules that apply before each later announcement. `instants`: the announcements in time order. `datedAt`: returns
 * the rules that are known at an instant.
 */
export function withAnnouncements(
  rules: VersionRules,
  instants: readonly EpochMs[],
  datedAt: (known: EpochMs) => Partial<VersionRules>,
): VersionRules {
  if (instants.length === 0) return rules;
  const earlier = instants.map((knownUntil, index) => ({
    ...rules,
    ...datedAt(instants[index - 1] ?? Number.NEGATIVE_INFINITY),
    knownUntil,
  }));
  return { ...rules, earlier };
}
