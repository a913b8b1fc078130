// What will become of the same request later: judged again at every instant at which anything of its API changes.
import type { VersionRules } from '../../plan/plan.ts';
import type { EpochMs } from '../../policy/contract.ts';
import { parseInstant } from '../../policy/notation.ts';
import type { JudgedRequest } from '../judge.ts';
import { signalsOf, spellChanges } from './explain-signals.ts';

export interface OutcomeChange {
  readonly at: EpochMs;
  /** The version that then answers for the request; undefined when none does. */
  readonly version: string | undefined;
  /** The operation, where that has rules of its own: the stage is then its own too. */
  readonly operation: string | undefined;
  readonly stage: string | undefined;
  /** Status of the gateway's own answer; undefined when the request is forwarded. */
  readonly status: number | undefined;
  /** Why the gateway answers itself. */
  readonly reason: string | undefined;
  readonly location: string | undefined;
  /** What the same version then says otherwise, in words such as `links v2 as successor`. */
  readonly signals: readonly string[];
}

/** The next changes, in time order, at most `most`. */
export async function nextChanges(
  first: JudgedRequest,
  judgeAt: (now: EpochMs) => Promise<JudgedRequest>,
  most: number,
): Promise<readonly OutcomeChange[]> {
  const { api, version, now } = first.facts;
  if (api === undefined) return [];
  // Of every operation too: it may be the one that a successor or a redirect leads to.
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
    const signals = spellChanges(before.signals, after.signals);
    if (signals.length > 0 || JSON.stringify(after.outcome) !== JSON.stringify(before.outcome))
      changes.push({ at, ...after.outcome, signals });
    before = after;
  }
  return changes;
}

/** Every instant at which something of a version begins or ends. */
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
 * Of repeated brownouts the nearest one: the others would hide the dates behind them. An announcement may bring others, so
 * that each stretch between two of them has its nearest.
 */
function brownoutsAhead(
  ofFile: readonly VersionRules[],
  version: VersionRules,
  now: EpochMs,
): readonly EpochMs[] {
  const { label, operation } = version;
  const declared = ofFile.find((each) => each.label === label && each.operation === operation) ?? version;
  const lives = [...(declared.earlier ?? []), declared];
  const nearest = ({ brownouts }: VersionRules, from: EpochMs, until = Number.POSITIVE_INFINITY) => {
    const [window] = brownouts?.windows(from, until) ?? [];
    return window === undefined ? [] : [window.from, window.until];
  };
  return [
    // As a pause leaves them.
    ...nearest(version, now),
    ...lives.flatMap((life, index) =>
      nearest(life, Math.max(now, lives[index - 1]?.knownUntil ?? now), life.knownUntil),
    ),
  ];
}

/** With `match: floor` a day that a header names gets an answer as soon as it has come (VER-5). */
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
