// The notices that are due at an instant: milestones of a plan and countdowns to sunsets, with their ids.
import type { ApiPlan, VersionRules } from '../plan/plan.ts';
import type { EpochMs } from '../policy/contract.ts';
import { knownAt } from '../policy/lifecycle/announcements.ts';
import { assess, type StageInput } from '../policy/lifecycle/assess.ts';
import {
  countdownOf,
  type Milestone,
  milestoneId,
  milestonesOf,
  sunsetKnownSince,
} from '../policy/lifecycle/milestones.ts';
import { isForgotten } from '../policy/lifecycle/retirement.ts';

/** Releases get no notice, because they change nothing for callers. */
export type DueMilestone = Exclude<Milestone, { kind: 'released' }>;

export interface Notice {
  /** Equal on every gateway and after every restart. */
  readonly id: string;
  readonly milestone: DueMilestone;
  /** The version or operation. */
  readonly rules: VersionRules;
}

export interface Noticed {
  /** Sorted by due instant. */
  readonly due: readonly Notice[];
  /** Steps of a countdown that a later step or the sunset itself has replaced: they are no longer sent. */
  readonly superseded: readonly Notice[];
}

/** Event type, and label of the metric. */
export type NoticeKind =
  | 'deprecated'
  | 'brownout_scheduled'
  | 'sunset_extended'
  | 'sunset_approaching'
  | 'sunset'
  | 'retired';

const KINDS: Readonly<Record<DueMilestone['kind'], NoticeKind>> = {
  deprecation: 'deprecated',
  brownouts: 'brownout_scheduled',
  extension: 'sunset_extended',
  approaching: 'sunset_approaching',
  sunset: 'sunset',
  retired: 'retired',
};

export function kindOf({ milestone }: Notice): NoticeKind {
  return KINDS[milestone.kind];
}

/** The first instant at which the notice has readers: calls are counted only from the deprecation on. */
export function notifiableFrom({ milestone: { at, life } }: Notice): EpochMs {
  return Math.max(at, life.schedule.deprecated ?? at);
}

/** An API in observe mode refuses no request and announces nothing. */
export function noticesAt(api: ApiPlan, moment: StageInput, daysBefore: readonly number[]): Noticed {
  const due: Notice[] = [];
  const superseded: Notice[] = [];
  if (api.mode === 'observe') return { due, superseded };
  for (const version of api.versions.values()) {
    for (const rules of [version, ...(version.operations?.list ?? [])]) {
      const within = rules === version ? undefined : version;
      const found = noticesOf(rules, within, moment, daysBefore);
      due.push(...found.due);
      superseded.push(...found.superseded);
    }
  }
  return { due: due.sort((one, other) => one.milestone.at - other.milestone.at), superseded };
}

function noticesOf(
  rules: VersionRules,
  within: VersionRules | undefined,
  moment: StageInput,
  daysBefore: readonly number[],
): Noticed {
  const life = assess(rules, moment);
  if (isForgotten(life.schedule, moment.now)) return { due: [], superseded: [] };
  const noticed = (milestone: DueMilestone): Notice => ({
    id: milestoneId(milestone),
    milestone,
    rules,
  });
  const due = dueOf(life, within && assess(within, moment), moment.now);
  const steps = hasOwnSunset(life, within && assess(within, moment))
    ? countdownOf(life, {
        daysBefore,
        knownSince: sunsetKnownSince(knownAt(rules, moment.now).schedule, life.schedule, rules, moment),
      })
    : [];
  const overdue = steps.filter(({ at }) => at <= moment.now).filter(isDueKind);
  const hasEnded = due.some(({ kind }) => kind === 'sunset');
  const last = hasEnded ? undefined : overdue.at(-1);
  return {
    due: [...due, ...(last === undefined ? [] : [last])].map(noticed),
    superseded: overdue.filter((step) => step !== last).map(noticed),
  };
}

function dueOf(life: VersionRules, within: VersionRules | undefined, now: EpochMs): readonly DueMilestone[] {
  const whole =
    within === undefined ? { ...life, operations: undefined } : { ...within, operations: { list: [life] } };
  return milestonesOf([whole], now)
    .filter(({ life: of }) => of.operation === life.operation)
    .filter(isDueKind)
    .reverse();
}

function hasOwnSunset({ schedule }: VersionRules, within: VersionRules | undefined): boolean {
  return schedule.sunset !== within?.schedule.sunset;
}

function isDueKind(milestone: Milestone): milestone is DueMilestone {
  return milestone.kind !== 'released';
}
