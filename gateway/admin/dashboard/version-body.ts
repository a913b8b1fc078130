// The body of one version in `/-/versions`: stage, phases, dates, brownouts, operations.
import type { VersionState } from '../../exchange/version-states.ts';
import type { ApiPlan, VersionRules } from '../../plan/plan.ts';
import type { EpochMs } from '../../policy/contract.ts';
import { knownAt } from '../../policy/lifecycle/announcements.ts';
import { isUnversioned } from '../../policy/lifecycle/api-life.ts';
import { brownoutsToCome } from '../../policy/lifecycle/calendar.ts';
import { phaseAt } from '../../policy/lifecycle/phases.ts';
import { instantOrNull, instantText } from '../answers.ts';

export function versionBody(api: ApiPlan, { rules, stage, paused, held }: VersionState, now: EpochMs) {
  const { label, schedule, freeze, upstream, brownouts } = rules;
  const { after, reason, guide, extended = [] } = schedule;
  const running = brownouts?.at(now);
  return {
    api: api.name,
    version: label,
    /** True for an API without versions. */
    whole: isUnversioned(schedule),
    mode: api.mode,
    stage,
    ...datesOf(rules),
    announced: instantOrNull(schedule.announced),
    /** The sunset as first published. */
    published: instantOrNull(schedule.published),
    extended: extended.map(({ to, announced }) => ({
      to: instantText(to),
      announced: instantText(announced),
    })),
    freeze: instantOrNull(freeze),
    phases: rules.phasesOf(schedule).map((phase) => ({
      stage: phase.stage,
      from: instantOrNull(phase.from),
      until: instantOrNull(phase.until),
    })),
    brownouts: brownoutsToCome(rules, now).map(({ from, until, share }) => ({
      from: instantText(from),
      until: instantText(until),
      share: share ?? null,
    })),
    brownoutUntil: instantOrNull(running?.until),
    successor: schedule.successor ?? null,
    after: after.kind === 'gone' ? { answer: 410, to: null } : { answer: 301, to: after.to },
    reason: reason ?? null,
    guide: guide ?? null,
    paused: paused ?? false,
    held: held ?? false,
    upstream: upstream?.name ?? null,
    operations: (rules.operations?.list ?? []).map((declared) => {
      const operation = knownAt(declared, now);
      return {
        operation: operation.operation ?? null,
        stage: phaseAt(operation.phases, now).stage,
        ...datesOf(operation),
      };
    }),
  };
}

function datesOf({ schedule }: VersionRules) {
  return {
    released: instantOrNull(schedule.released),
    deprecated: instantOrNull(schedule.deprecated),
    sunset: instantOrNull(schedule.sunset),
    retired: instantOrNull(schedule.retired),
  };
}
