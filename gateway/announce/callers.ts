// Finds the consumers that call what a notice is about, with evidence: calls, last call, operations and a sample.

import type { VersionRules } from '../plan/plan.ts';
import type { EpochMs } from '../policy/contract.ts';
import { exceptionInWords } from '../policy/lifecycle/exceptions.ts';
import type { LedgerStore, UsageRecord, UsageSample } from '../policy/usage/ledger.ts';
import { daysBefore } from '../policy/usage/window.ts';
import { createSlices } from '../system/time-slices.ts';
import type { Notice } from './notices.ts';

/** A mail covers recent calls only. */
const EVIDENCE_DAYS = 30;
const RECORDS_PER_PAGE = 100;

/** The calls of one consumer to one version or operation in the last 30 days. */
export interface CallEvidence {
  readonly calls: number;
  readonly lastAt: EpochMs;
  /** By number of calls, highest first. `undefined`: calls that match no operation of the policy. */
  readonly operations: readonly (readonly [operation: string | undefined, calls: number])[];
  /** Contains no client input except the method. */
  readonly sample: UsageSample | undefined;
}

export interface CallingConsumer {
  readonly consumer: string;
  /** Whether it used an API key, which has its own contact. */
  readonly byKey: boolean;
  readonly notices: readonly ConsumerNotice[];
}

export interface ConsumerNotice {
  readonly notice: Notice;
  readonly evidence: CallEvidence;
}

export interface Callers {
  readonly named: readonly CallingConsumer[];
  /** Client addresses of anonymous calls, which have no contact. */
  readonly addresses: number;
}

interface Tally {
  calls: number;
  lastAt: EpochMs;
  readonly operations: Map<string | undefined, number>;
  sample: UsageSample | undefined;
}

interface ConsumerTallies {
  byKey: boolean;
  readonly tallies: Map<Notice, Tally>;
}

/** Rejects with `StoreUnavailable`. */
export async function callersOf(
  ledger: Pick<LedgerStore, 'read'>,
  notices: readonly Notice[],
  now: EpochMs,
): Promise<Callers> {
  const known = new Map<string, ConsumerTallies>();
  const addresses = new Set<string>();
  const nextSlice = createSlices();
  const since = daysBefore(now, EVIDENCE_DAYS);
  const byVersion = Map.groupBy(notices, ({ rules }) => JSON.stringify([rules.api, rules.label]));
  for (const concerned of byVersion.values()) {
    const [first] = concerned;
    if (first === undefined) continue;
    const filter = { api: first.rules.api, version: first.rules.label, since };
    let after: string | undefined;
    do {
      const page = await ledger.read(filter, { after, limit: RECORDS_PER_PAGE });
      for (const record of page.records) {
        const about = concerned.filter(({ rules }) => isAbout(rules.operation, record));
        if (about.length === 0) continue;
        if (record.via === 'address') addresses.add(record.consumer);
        else add(known, record, about, since);
      }
      after = page.next;
      await nextSlice();
    } while (after !== undefined);
  }
  const named = [...known].map(([consumer, { byKey, tallies }]): CallingConsumer => {
    const consumerNotices = [...tallies].map(([notice, tally]) => ({ notice, evidence: evidenceOf(tally) }));
    return { consumer, byKey, notices: consumerNotices };
  });
  return { named: named.sort((a, b) => (a.consumer < b.consumer ? -1 : 1)), addresses: addresses.size };
}

function isAbout(operation: string | undefined, record: UsageRecord): boolean {
  return operation === undefined || record.operation === operation;
}

function add(
  known: Map<string, ConsumerTallies>,
  record: UsageRecord,
  about: readonly Notice[],
  since: string,
): void {
  let calls = 0;
  for (const [day, count] of Object.entries(record.callsByDay)) if (day >= since) calls += count;
  if (calls === 0) return;
  const consumer = known.getOrInsertComputed(record.consumer, () => ({ byKey: false, tallies: new Map() }));
  consumer.byKey ||= record.via === 'key';
  for (const notice of about) {
    const tally = consumer.tallies.getOrInsertComputed(notice, () => ({
      calls: 0,
      lastAt: record.lastAt,
      operations: new Map(),
      sample: record.sample,
    }));
    tally.calls += calls;
    if (record.lastAt > tally.lastAt) {
      tally.lastAt = record.lastAt;
      tally.sample = record.sample ?? tally.sample;
    }
    tally.operations.set(record.operation, (tally.operations.get(record.operation) ?? 0) + calls);
  }
}

function evidenceOf({ calls, lastAt, operations, sample }: Tally): CallEvidence {
  return { calls, lastAt, operations: [...operations].sort(([, a], [, b]) => b - a), sample };
}

const MAX_OPERATIONS = 10;

/** `who`: set if the mail has several readers. */
export function callLines(name: string, who: string | undefined, evidence: CallEvidence): readonly string[] {
  const { calls, lastAt, operations, sample } = evidence;
  const last = Temporal.Instant.fromEpochMilliseconds(lastAt).toString({ smallestUnit: 'second' });
  const named = operations.filter(([operation]) => operation !== undefined);
  const listed = named.length === 0 ? [] : operations.slice(0, MAX_OPERATIONS);
  const subject = who === undefined ? `Your calls of ${name}` : `Calls of ${name} by ${who}`;
  return [
    `${subject} in the last ${EVIDENCE_DAYS} days: ${calls.toLocaleString('en-US')}, the last at ${last}.`,
    ...listed.map(([operation, count]) => `${operation ?? 'others'}: ${count.toLocaleString('en-US')}`),
    ...(sample === undefined
      ? []
      : [`For example ${sample.method} ${sample.template}, request ${sample.requestId}.`]),
  ];
}

/** Tells an exempt consumer that the end of the version does not apply to it yet. */
export function exceptionLines(
  { exceptions }: Pick<VersionRules, 'exceptions'>,
  consumer: string,
  now: EpochMs,
): readonly string[] {
  return exceptions
    .filter((each) => each.consumer === consumer && now < each.until)
    .map((each) => `${consumer} has ${exceptionInWords(each)}.`);
}
