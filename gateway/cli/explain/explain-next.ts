// Predicts the response to the same request at every later instant at which its API changes.
import type { VersionRules } from '../../plan/plan.ts';
import type { EpochMs } from '../../policy/contract.ts';
import { parseInstant } from '../../policy/notation.ts';
import type { JudgedRequest } from '../judge.ts';
import { formatChanges, signalsOf } from './explain-signals.ts';

export interface OutcomeChange {
  readonly at: EpochMs;
  /** The version that then handles the request. Undefined if none does. */
  readonly version: string | undefined;
  /** Set if the operation has rules of its own. `stage` is then that of the operation. */
  readonly operation: string | undefined;
  readonly stage: string | undefined;
  /** Status of the gateway's own response. Undefined if the request is forwarded. */
  readonly status: number | undefined;
  readonly reason: string | undefined;
  readonly location: string | undefined;
  /** Changed signals of the same version, such as `links v2 as successor`. */
  readonly signals: readonly string[];
}

/** In time order. */
export async function nextChanges(
  first: JudgedRequest,
  judgeAt: (now: EpochMs) => Promise<JudgedRequest>,
  most: number,
): Promise<readonly OutcomeChange[]> {
  const { api, version, now } = first.facts;
  if (api === undefined) return [];
  // Includes every operation, because a successor or a redirect may lead to it.
  const ofFile = [...api.versions.values()].flatMap((each) => [each, ...(each.operations?.list ?? [])]);
  const rules = [...ofFile, ...(version === undefined ? [] : [version])];
  const instants = [
    ...rules.flatMap(instantsOf),
    ...first.facts.overrides.flatMap(({ from, until }) => [from, until]),
    ...(version === undefined ? [] : brownoutsAhead(ofFile, version, now)),
    ...daysNamed(first),
  ];
  const changes: OutcomeChange[] = [];
  let before = summaryOf(first);
  for (const at of laterThan(now, instants)) {
    if (changes.length === most) break;
    const after = summaryOf(await judgeAt(at));
    const signals = formatChanges(before.signals, after.signals);
    if (signals.length > 0 || JSON.stringify(after.outcome) !== JSON.stringify(before.outcome))
      changes.push({ at, ...after.outcome, signals });
    before = after;
  }
  return changes;
}

function instantsOf(rules: VersionRules): readonly EpochMs[] {
  const { phases, schedule, exceptions, freeze, maintenance, earlier = [], knownUntil } = rules;
  return [
    ...earlier.flatMap(instantsOf),
    ...(knownUntil === undefined ? [] : [knownUntil]),
    ...phases.map(({ from }) => from),
    ...exceptions.map(({ until }) => until),
    ...(schedule.forgotten === undefined ? [] : [schedule.forgotten]),
    ...(freeze === undefined ? [] : [freeze]),
    ...(maintenance === undefined ? [] : [maintenance.until]),
  ];
}

/**
 * Only the nearest of repeated brownouts, because more of them would hide the dates after them. An announcement may
 * change the brownouts, so each period between two announcements has its own.
 */
function brownoutsAhead(
  ofFile: readonly VersionRules[],
  version: VersionRules,
  now: EpochMs,
): readonly EpochMs[] {
  const { label, operation } = version;
  const declared = ofFile.find((each) => each.label === label && each.operation === operation) ?? version;
  const editions = [...(declared.earlier ?? []), declared];
  const nearest = ({ brownouts }: VersionRules, from: EpochMs, until = Number.POSITIVE_INFINITY) => {
    const [window] = brownouts?.windows(from, until) ?? [];
    return window === undefined ? [] : [window.from, window.until];
  };
  return [
    // With pauses applied.
    ...nearest(version, now),
    ...editions.flatMap((life, index) =>
      nearest(life, Math.max(now, editions[index - 1]?.knownUntil ?? now), life.knownUntil),
    ),
  ];
}

/** With `match: floor` a version header with a future day is valid from that day on (VER-5). */
function daysNamed({ facts, view }: JudgedRequest): readonly EpochMs[] {
  const { header, match } = facts.api?.resolution ?? {};
  if (header === undefined || match !== 'floor') return [];
  return [parseInstant(view.headers.get(header) ?? '') ?? []].flat();
}

function laterThan(now: EpochMs, instants: readonly EpochMs[]): readonly EpochMs[] {
  return [...new Set(instants)].filter((at) => at > now && Number.isFinite(at)).sort((a, b) => a - b);
}

function summaryOf(judged: JudgedRequest) {
  return { outcome: outcomeOf(judged), signals: signalsOf(judged) };
}

function outcomeOf({ facts, ending }: JudgedRequest): Omit<OutcomeChange, 'at' | 'signals'> {
  const answer = ending.kind === 'answered' ? ending.answer : undefined;
  const location = answer?.headers.get('location');
  return {
    version: facts.version?.label,
    operation: facts.version?.operation,
    stage: facts.phase?.stage,
    status: answer?.status,
    reason: ending.kind === 'answered' ? ending.reason : undefined,
    location: typeof location === 'string' ? location : undefined,
  };
}
