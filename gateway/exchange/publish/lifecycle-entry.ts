// The published entry of a version or an operation: stage, dates, advice and next change.
import type { ApiPlan, VersionRules } from '../../plan/plan.ts';
import type { EpochMs } from '../../policy/contract.ts';
import type { IdempotencyRules } from '../../policy/idempotency/rules.ts';
import { effectivePause, type StageInput } from '../../policy/lifecycle/assess.ts';
import { brownoutsToCome } from '../../policy/lifecycle/calendar.ts';
import { phaseAt } from '../../policy/lifecycle/phases.ts';
import { hasEnded } from '../../policy/lifecycle/retirement.ts';
import type { Stage } from '../../policy/lifecycle/schedule.ts';
import { isInMaintenance } from '../../policy/maintenance/maintenance.ts';
import type { Label } from '../../policy/versioning/resolution.ts';
import { successorIn } from '../linked-versions.ts';

export interface StageChange {
  readonly at: string;
  readonly stage: Stage;
}

/** Instants are RFC 3339 in UTC. Unknown members are absent. */
export interface LifecycleEntry {
  readonly stage: Stage;
  readonly released?: string;
  readonly deprecated?: string;
  readonly sunset?: string;
  readonly retired?: string;
  readonly successor?: Label;
  /** Present if its name differs from this operation. */
  readonly successor_operation?: string;
  /** A URL to use if there is no successor. */
  readonly alternate?: string;
  readonly migration_guide?: string;
  readonly reason?: string;
  readonly next_change?: StageChange;
  readonly paused_until?: string;
  readonly brownouts?: readonly PlannedBrownout[];
  /** The methods that accept an idempotency key, and how long outcomes are stored. */
  readonly idempotency?: PublishedIdempotency;
  readonly maintenance_until?: string;
}

export interface PublishedIdempotency {
  readonly methods: readonly string[];
  readonly required: boolean;
  readonly keep_seconds: number;
}

export interface PlannedBrownout {
  readonly from: string;
  readonly until: string;
  readonly status: number;
  /** The share of callers that are refused, above 0 and below 1. Absent if all are. */
  readonly share?: number;
}

/** `realNow`: the real time. `now` follows the lifecycle clock. */
export type PublishMoment = StageInput & { readonly realNow: EpochMs };

/** `within`: the version of an operation. Brownouts of the version appear only at the version. */
export function entryOf(
  api: ApiPlan,
  rules: VersionRules,
  moment: PublishMoment,
  within?: VersionRules,
): LifecycleEntry {
  const { now } = moment;
  const { schedule, phases } = rules;
  const phase = phaseAt(phases, now);
  // A planned successor is named. An ended one is not.
  const successor = successorIn(api, rules, moment) ?? schedule.successor;
  const none = rules.brownouts === within?.brownouts || hasEnded(phase);
  const brownouts = none ? [] : brownoutsToCome(rules, now);
  const entry = {
    stage: phase.stage,
    released: instantText(schedule.released),
    deprecated: instantText(schedule.deprecated),
    sunset: instantText(schedule.sunset),
    retired: instantText(schedule.retired),
    successor,
    successor_operation: successor === schedule.successor ? schedule.successorOperation : undefined,
    alternate: schedule.successor === undefined ? schedule.alternate : undefined,
    migration_guide: schedule.guide,
    reason: schedule.reason,
    idempotency:
      hasEnded(phase) || rules.idempotency === within?.idempotency ? undefined : keysOf(rules.idempotency),
    paused_until: instantText(pauseEnd(rules, moment)),
    maintenance_until: hasEnded(phase) ? undefined : instantText(maintenanceEnd(rules, moment.realNow)),
    next_change: Number.isFinite(phase.until)
      ? { at: instantText(phase.until), stage: phaseAt(phases, phase.until).stage }
      : undefined,
    brownouts:
      brownouts.length === 0
        ? undefined
        : brownouts.map(({ from, until, status, share }) => ({
            from: instantText(from),
            until: instantText(until),
            status,
            ...(share === undefined ? {} : { share }),
          })),
  };
  return withoutUndefined(entry);
}

/** Undefined without a sunset or brownouts. Author and reason of a pause are not published. */
function pauseEnd(rules: VersionRules, moment: StageInput): EpochMs | undefined {
  const { sunset } = rules.schedule;
  if (sunset === undefined && rules.brownouts === undefined) return undefined;
  return effectivePause(rules, moment)?.until;
}

/** IDM-5: clients must be able to read how long a key is kept. */
function keysOf(rules: IdempotencyRules | undefined): PublishedIdempotency | undefined {
  if (rules === undefined) return undefined;
  const { methods, required, keepMs } = rules;
  return { methods: [...methods], required, keep_seconds: keepMs / 1000 };
}

function maintenanceEnd({ maintenance }: VersionRules, realNow: EpochMs): EpochMs | undefined {
  return isInMaintenance(maintenance, realNow) ? maintenance.until : undefined;
}

export function instantText(at: EpochMs): string;
export function instantText(at: EpochMs | undefined): string | undefined;
export function instantText(at: EpochMs | undefined): string | undefined {
  if (at === undefined || !Number.isFinite(at)) return undefined;
  return Temporal.Instant.fromEpochMilliseconds(at).toString();
}

type DefinedMembers<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

function withoutUndefined<T extends object>(
  entry: T & { readonly stage: Stage },
): DefinedMembers<T> & { stage: Stage } {
  const known = Object.entries(entry).filter(([, value]) => value !== undefined);
  return Object.assign({ stage: entry.stage }, Object.fromEntries(known)) as DefinedMembers<T> & {
    stage: Stage;
  };
}
