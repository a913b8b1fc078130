// The life of an API as a whole: its stage is that of its most alive version, and changes when that does.
// Read by everything that tells of an API: lifecycle documents, metrics, `explain`, `timeline`.
import type { EpochMs } from '../contract.ts';
import { phaseAt } from './phases.ts';
import type { Phase, Schedule, Stage } from './schedule.ts';

/** Most alive first. What is only planned counts last: next to any other version, something has been released. */
const BY_LIFE: readonly Stage[] = ['active', 'deprecated', 'sunset', 'retired', 'planned'];

type Lives = readonly { readonly phases: readonly Phase[] }[];

/** The stage of the version that has most of its life before it. Give versions as overrides leave them, at least one. */
export function stageOfApi(versions: Lives, now: EpochMs): Stage {
  const stages = versions.map(({ phases }) => phaseAt(phases, now).stage);
  const stage = BY_LIFE.find((each) => stages.includes(each));
  if (stage === undefined) throw new RangeError('an API without any version has no stage');
  return stage;
}

/** When the stage of the API is another next, and which; undefined where it stays for good. */
export function nextStageOfApi(
  versions: Lives,
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

/** Whether it is the life of an API without versions, which was never released: it is spoken of by the API's name. */
export function isOfWholeApi({ released }: Pick<Schedule, 'released'>): boolean {
  return released === Number.NEGATIVE_INFINITY;
}

/** Whether anything happens in it on some day: an API without versions may well go on as it is for good. */
export function hasDates({ released, deprecated, sunset, retired }: Schedule): boolean {
  return [released, deprecated, sunset, retired].some((at) => at !== undefined && Number.isFinite(at));
}
