// What of a version and an operation depends on dates: the schedule, brownouts, exceptions, the freeze and retirement by usage.
import type { VersionRules } from '../../plan/plan.ts';
import type { EpochMs } from '../../policy/contract.ts';
import { type BrownoutCalendar, createBrownoutCalendar } from '../../policy/lifecycle/brownout-calendar.ts';
import type { BrownoutRule, BrownoutWindow } from '../../policy/lifecycle/brownout-rule.ts';
import { expandBrownouts } from '../../policy/lifecycle/brownout-windows.ts';
import type { Exception } from '../../policy/lifecycle/exceptions.ts';
import { spellOperation } from '../../policy/lifecycle/operation-template.ts';
import type { Phase, Schedule } from '../../policy/lifecycle/schedule.ts';
import { compareLabels } from '../../policy/versioning/label.ts';
import type { Label } from '../../policy/versioning/resolution.ts';
import type { OperationFile, VersionFile } from '../policy-file.ts';
import type { VersionInput } from '../section.ts';
import { earlier, effectiveSunset, redirectChain, successorOf } from './redirects.ts';

export function endOfVersion({ version }: VersionInput): Pick<VersionRules, 'freeze' | 'retireWhen'> {
  return { freeze: version.freeze, retireWhen: version.retire_when };
}

/** A version is judged by its usage as a whole. */
export function endOfOperation(): Pick<VersionRules, 'retireWhen'> {
  return { retireWhen: undefined };
}

/** `published`: where the gateway itself tells of the API's life; `urlOf`: where a guide is read. */
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
    // Where a version redirects to is where to go, unless another is named (RET-8).
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
 * Earlier than the version's, never later: what is gone as a whole is gone in each part (RET-11). A deprecation that would
 * come after the end never comes (DEP-5), and the version's announcement is of its own date alone.
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
    ...(successor?.template !== undefined && { successorOperation: spellOperation(successor.template) }),
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

/** `pathOf`: where a version lives, up to the tail. */
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

/** `known`: the instant by which they are announced. */
type Brownouts = (
  dates: Pick<Schedule, 'deprecated' | 'sunset'>,
  known: EpochMs,
) => BrownoutCalendar | undefined;

/**
 * The windows of the rules that are announced, none beginning before it is. Undefined where there are none, and without
 * the dates between which they may lie. The same dates are unrolled once: each window costs a look at a time zone.
 */
export function compileBrownouts(rules: readonly BrownoutRule[] = []): Brownouts {
  const unrolled = new Map<string, readonly BrownoutWindow[]>();
  return ({ deprecated, sunset }, known) => {
    if (rules.length === 0 || deprecated === undefined || sunset === undefined) return undefined;
    const expand = () => expandBrownouts(rules, { deprecated, sunset });
    const windows = unrolled.getOrInsertComputed(`${deprecated} ${sunset}`, expand);
    const announced = windows
      .filter((window) => window.announced <= known && window.announced < window.until)
      .map((window) => ({ ...window, from: Math.max(window.from, window.announced) }));
    return announced.length === 0 ? undefined : createBrownoutCalendar(announced);
  };
}

/**
 * With leave from the sunset the consumer's own last day stands in its headers. `mayOutlast`: whether anybody may have it.
 * An operation that ends by a date of its own ends for everybody, since the leave was given for the version; and where
 * there is no upstream, there is nothing to let anybody pass to.
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

/** With the rules before each later announcement of a date. `instants`: of the announcements, in time order; `datedAt`: the part of the rules that is known by an instant. */
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
