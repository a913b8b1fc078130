// Computes and describes what a pause or hold does to each version that it names.
import { dateInWords } from '../notation.ts';
import type { Label } from '../versioning/resolution.ts';
import { isUnversioned } from './api-life.ts';
import { assess, type OverridableRules } from './assess.ts';
import type { Override } from './override.ts';
import { phaseAt } from './phases.ts';
import { hasEnded, isForgotten } from './retirement.ts';
import type { Schedule } from './schedule.ts';

export interface PausableApi {
  readonly name: string;
  readonly versions: ReadonlyMap<Label, PausableVersion>;
}

export interface PausableVersion extends PausableLife {
  readonly operations: { readonly list: readonly PausableLife[] } | undefined;
}

export interface PausableLife extends OverridableRules {
  readonly operation: string | undefined;
}

/** The effect on one version, or on an operation with its own sunset or brownouts. */
export interface PauseEffect {
  readonly version: Label;
  readonly operation: string | undefined;
  readonly effect:
    | 'served_again'
    | 'sunset_held'
    | 'brownouts_held'
    | 'stays_ended'
    /** Neither its sunset nor a brownout falls into the pause. */
    | 'none';
  readonly brownouts: number;
  /** One sentence for the operator, without a full stop. */
  readonly summary: string;
}

/** The effects from the start of the pause on, in the order of the policy file. Empty if the API no longer exists. */
export function effectsOf(pause: Override, apis: readonly PausableApi[]): readonly PauseEffect[] {
  const api = apis.find(({ name }) => name === pause.api);
  return [...(api?.versions.values() ?? [])]
    .filter(({ label }) => pause.label === undefined || pause.label === label)
    .flatMap((version) => {
      const operations = version.operations?.list.filter((each) => hasOwnEnd(each, version)) ?? [];
      return [version, ...operations].map((life) => effectOn(life, pause));
    });
}

function hasOwnEnd(operation: OverridableRules, { schedule, brownouts }: OverridableRules): boolean {
  return operation.schedule.sunset !== schedule.sunset || operation.brownouts !== brownouts;
}

function effectOn(life: PausableLife, pause: Override): PauseEffect {
  const { label: version, operation } = life;
  const ended = hasEnded(phaseAt(life.phases, pause.from));
  const held = assess(life, { overrides: [pause], now: pause.from });
  const windows = pause.kind === 'pause' ? life.brownouts?.windows(pause.from, pause.until) : undefined;
  const brownouts = windows?.length ?? 0;
  const effect = ((): PauseEffect['effect'] => {
    if (ended && pause.kind === 'pause') return life.upstream === undefined ? 'stays_ended' : 'served_again';
    if (held.schedule.sunset !== life.schedule.sunset) return 'sunset_held';
    return brownouts > 0 ? 'brownouts_held' : 'none';
  })();
  const whole = isUnversioned(life.schedule) ? life.api : version;
  const subject = operation === undefined ? whole : `${operation} of ${whole}`;
  const sentence = sentenceOf(effect, { life, pause, brownouts });
  return { version, operation, effect, brownouts, summary: `${subject} ${sentence}` };
}

interface EffectDetails {
  readonly life: OverridableRules;
  readonly pause: Override;
  readonly brownouts: number;
}

function sentenceOf(effect: PauseEffect['effect'], { life, pause, brownouts }: EffectDetails): string {
  const { schedule } = life;
  const without =
    brownouts === 0 ? '' : ` without ${brownouts} ${brownouts === 1 ? 'brownout' : 'brownouts'}`;
  const until = `until ${dateInWords(pause.until)}`;
  switch (effect) {
    case 'served_again':
      return `is served again ${until}${pastSunset(schedule)}`;
    case 'sunset_held':
      return `stays ${until}${without}${pastSunset(schedule)}`;
    case 'brownouts_held':
      return `is served ${until}${without}`;
    case 'stays_ended':
      return `has no upstream: its ${responseAfterEnd(schedule, pause)} stays`;
    case 'none':
      return 'has no sunset or brownout during the pause';
    default:
      return effect satisfies never;
  }
}

/** The response that callers of an ended version keep getting. */
function responseAfterEnd(schedule: Schedule, { from }: Override): string {
  if (isForgotten(schedule, from)) return '404';
  return schedule.after.kind === 'redirect' ? 'redirect' : '410';
}

function pastSunset({ sunset }: Schedule): string {
  return sunset === undefined ? '' : `, past its sunset of ${dateInWords(sunset)}`;
}
