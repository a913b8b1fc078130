// The stage of an API as a whole: that of the version with the longest life left.
import type { EpochMs } from '../contract.ts';
import { phaseAt } from './phases.ts';
import type { Phase, Schedule, Stage } from './schedule.ts';

/**
 * The first of these that any version has is the stage of the API. `planned` is last: every other stage means a release.
 */
const BY_REMAINING_LIFE: readonly Stage[] = ['active', 'deprecated', 'sunset', 'retired', 'planned'];

type VersionPhases = readonly { readonly phases: readonly Phase[] }[];

/** Pass at least one version, with overrides applied. */
export function stageOfApi(versions: VersionPhases, now: EpochMs): Stage {
  const stages = versions.map(({ phases }) => phaseAt(phases, now).stage);
  const stage = BY_REMAINING_LIFE.find((each) => stages.includes(each));
  if (stage === undefined) throw new RangeError('an API without any version has no stage');
  return stage;
}

export function nextStageOfApi(
  versions: VersionPhases,
  now: EpochMs,
): { readonly at: EpochMs; readonly stage: Stage } | undefined {
  const before = stageOfApi(versions, now);
  const instants = versions.flatMap(({ phases }) => phases.map(({ from }) => from)).filter((at) => at > now);
  for (const at of instants.toSorted((a, b) => a - b)) {
    const stage = stageOfApi(versions, at);
    if (stage !== before) return { at, stage };
  }
  return undefined;
}

/** An API without versions has no release. It is shown under the API's name. */
export function isUnversioned({ released }: Pick<Schedule, 'released'>): boolean {
  return released === Number.NEGATIVE_INFINITY;
}

export function hasDates({ released, deprecated, sunset, retired }: Schedule): boolean {
  return [released, deprecated, sunset, retired].some((at) => at !== undefined && Number.isFinite(at));
}
