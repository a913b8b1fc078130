// Counts calls per subject since the last flush. A call costs two lookups and changes its entry in place.
import type { ExchangeOutcome } from '../../exchange/exchange.ts';
import type { ExchangeFacts } from '../../exchange/facts.ts';
import type { VersionRules } from '../../plan/plan.ts';
import type { EpochMs } from '../../policy/contract.ts';
import { cleanAgent, mergeAgents } from '../../policy/usage/agents.ts';
import { dayNamed, dayNumberAt } from '../../policy/usage/day.ts';
import { KNOWN_BY, type UsageRecord, type UsageSubject } from '../../policy/usage/ledger.ts';
import { countedUnder } from './watched.ts';

export interface UsageTally {
  readonly record: (facts: ExchangeFacts, outcome: ExchangeOutcome) => void;
  /** The calls since the last `take`. The iterator creates each record when it is read. */
  readonly take: () => Iterator<UsageRecord, undefined>;
  readonly size: () => number;
  readonly counted: () => number;
  /** Calls that were not counted because the tally was full. */
  readonly dropped: () => number;
}

interface TallyEntry {
  readonly firstAt: EpochMs;
  lastAt: EpochMs;
  day: number;
  calls: number;
  /** Calls of days other than `day`. */
  others: Map<number, number> | undefined;
  /** The User-Agent of the last call, which is nearly always the same. */
  sent: string | undefined;
  agents: readonly string[];
  readonly method: string;
  readonly requestId: string;
}

type SubjectTallies = Pick<UsageSubject, 'api' | 'version' | 'operation'> & {
  readonly template: string;
  readonly entries: Readonly<Record<UsageSubject['via'], Map<string, TallyEntry>>>;
};

/** Bounds the memory while the store is unavailable. */
const MAX_SUBJECTS = 200_000;

export function createUsageTally(mostSubjects = MAX_SUBJECTS): UsageTally {
  let byRules = new WeakMap<VersionRules, SubjectTallies>();
  let byName = new Map<string, SubjectTallies>();
  let size = 0;
  let counted = 0;
  let dropped = 0;

  /** Found by name too, because each plan has its own rules object for the same version. */
  const callersOf = (rules: VersionRules): SubjectTallies => {
    const { api, label, operation } = rules;
    const name = JSON.stringify([api, label, operation]);
    const callers = byName.get(name) ?? noCallers(rules);
    byName.set(name, callers);
    byRules.set(rules, callers);
    return callers;
  };

  return {
    record: (facts, outcome) => {
      const rules = countedUnder(facts);
      if (rules === undefined) return;
      const { entries } = byRules.get(rules) ?? callersOf(rules);
      const { consumer } = facts.decision;
      const subjects = entries[consumer === undefined ? 'address' : consumer.via];
      const id = consumer === undefined ? outcome.clientNetwork : consumer.id;
      const entry = subjects.get(id);
      if (entry !== undefined) {
        counted += 1;
        countIn(entry, facts.start.now, outcome.userAgent);
      } else if (size < mostSubjects) {
        counted += 1;
        size += 1;
        subjects.set(id, newEntry(facts, outcome));
      } else dropped += 1;
    },
    take: () => {
      const taken = byName;
      byName = new Map();
      byRules = new WeakMap();
      size = 0;
      return recordsIn(taken.values());
    },
    size: () => size,
    counted: () => counted,
    dropped: () => dropped,
  };
}

function noCallers({ api, label, operation, place }: VersionRules): SubjectTallies {
  return {
    api,
    version: label,
    operation,
    template: `${place}${operation === undefined ? '/*' : operation.slice(operation.indexOf(' ') + 1)}`,
    entries: { token: new Map(), key: new Map(), certificate: new Map(), address: new Map() },
  };
}

function newEntry(
  { start: { now, requestId } }: ExchangeFacts,
  { method, userAgent }: ExchangeOutcome,
): TallyEntry {
  return {
    firstAt: now,
    lastAt: now,
    day: dayNumberAt(now),
    calls: 1,
    others: undefined,
    sent: userAgent,
    agents: userAgent === undefined ? [] : withAgent([], userAgent),
    method,
    requestId,
  };
}

function countIn(entry: TallyEntry, now: EpochMs, userAgent: string | undefined): void {
  if (now > entry.lastAt) entry.lastAt = now;
  const day = dayNumberAt(now);
  if (day === entry.day) entry.calls += 1;
  else {
    // Around midnight, and when no flush succeeded for a day.
    entry.others ??= new Map();
    entry.others.set(day, (entry.others.get(day) ?? 0) + 1);
  }
  if (userAgent === undefined || userAgent === entry.sent) return;
  entry.sent = userAgent;
  entry.agents = withAgent(entry.agents, userAgent);
}

function withAgent(agents: readonly string[], sent: string): readonly string[] {
  const agent = cleanAgent(sent);
  return agent === undefined ? agents : mergeAgents(agents, [agent]);
}

function* recordsIn(all: Iterable<SubjectTallies>): Generator<UsageRecord, undefined> {
  for (const { api, version, operation, template, entries } of all)
    for (const via of KNOWN_BY)
      for (const [consumer, entry] of entries[via]) {
        const { firstAt, lastAt, day, calls, others, agents, method, requestId } = entry;
        const callsByDay: Record<string, number> = { [dayNamed(day)]: calls };
        for (const [other, count] of others ?? []) callsByDay[dayNamed(other)] = count;
        const sample = { method, template, requestId };
        yield { consumer, via, api, version, operation, firstAt, lastAt, callsByDay, agents, sample };
      }
  return undefined;
}
