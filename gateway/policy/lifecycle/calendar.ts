// The events of versions and operations in time order: their dates and brownouts.
// icalendar.ts writes them as text.
import type { EpochMs } from '../contract.ts';
import type { Label } from '../versioning/resolution.ts';
import type { BrownoutCalendar } from './brownout-calendar.ts';
import type { Schedule } from './schedule.ts';

export interface LifecycleEvent {
  readonly kind: 'released' | 'deprecated' | 'sunset' | 'retired' | 'brownout';
  readonly life: Life;
  readonly at: EpochMs;
  /** End of a brownout; undefined for what is an instant. */
  readonly until: EpochMs | undefined;
  /** Part of the callers that meet a brownout; undefined for all of them. */
  readonly share: number | undefined;
}

/** What the events of one version or operation are made of; the rules of a plan have this form. */
export interface Life {
  readonly api: string;
  readonly label: Label;
  /** Such as `GET /search`; undefined for the version as a whole. */
  readonly operation: string | undefined;
  readonly schedule: Schedule;
  readonly brownouts: BrownoutCalendar | undefined;
}

export interface VersionLife extends Life {
  readonly operations: { readonly list: readonly Life[] } | undefined;
}

const DATES = ['released', 'deprecated', 'sunset', 'retired'] as const;
/** The most brownouts of one version that are listed. */
const MOST_BROWNOUTS = 100;

/**
 * Every event of the APIs, past and future, in time order. Brownouts that ended before `now` are left out.
 * An operation adds only what differs from its version.
 */
export function lifecycleEvents(
  apis: readonly { readonly versions: ReadonlyMap<Label, VersionLife> }[],
  now: EpochMs,
): readonly LifecycleEvent[] {
  return apis
    .flatMap(({ versions }) => [...versions.values()])
    .flatMap((version) => [
      ...eventsOf(version, undefined, now),
      ...(version.operations?.list ?? []).flatMap((operation) => eventsOf(operation, version, now)),
    ])
    .sort((one, other) => one.at - other.at);
}

/** The brownouts of a version that have not ended at `now`, in time order, at most a hundred. */
export function brownoutsToCome({ brownouts }: Pick<Life, 'brownouts'>, now: EpochMs) {
  return brownouts?.windows(now, Number.POSITIVE_INFINITY).slice(0, MOST_BROWNOUTS) ?? [];
}

function eventsOf(life: Life, within: Life | undefined, now: EpochMs): readonly LifecycleEvent[] {
  const { schedule } = life;
  const dates = DATES.flatMap((kind): readonly LifecycleEvent[] => {
    const at = schedule[kind];
    // An unversioned API was never released, and retirement at the sunset is no event of its own.
    if (at === undefined || !Number.isFinite(at) || at === within?.schedule[kind]) return [];
    return kind === 'retired' && at === schedule.sunset
      ? []
      : [{ kind, life, at, until: undefined, share: undefined }];
  });
  if (life.brownouts === within?.brownouts) return dates;
  const windows = brownoutsToCome(life, now);
  return [
    ...dates,
    ...windows.map(({ from, until, share }) => ({ kind: 'brownout' as const, life, at: from, until, share })),
  ];
}
