// What a mail says of one reader: how it called lately, and from what it is spared.
// Part of mail.ts, which puts each on one line.
import type { VersionRules } from '../plan/plan.ts';
import type { EpochMs } from '../policy/contract.ts';
import { leaveInWords } from '../policy/lifecycle/exceptions.ts';
import { EVIDENCE_DAYS, type Evidence } from './callers.ts';

const MOST_OPERATIONS = 10;

/** `who`: of several readers. */
export function callLines(name: string, who: string | undefined, evidence: Evidence): readonly string[] {
  const { calls, lastAt, operations, sample } = evidence;
  const last = Temporal.Instant.fromEpochMilliseconds(lastAt).toString({ smallestUnit: 'second' });
  const named = operations.filter(([operation]) => operation !== undefined);
  const listed = named.length === 0 ? [] : operations.slice(0, MOST_OPERATIONS);
  const whose = who === undefined ? `Your calls of ${name}` : `Calls of ${name} by ${who}`;
  return [
    `${whose} in the last ${EVIDENCE_DAYS} days: ${calls.toLocaleString('en-US')}, the last at ${last}.`,
    ...listed.map(([operation, count]) => `${operation ?? 'others'}: ${count.toLocaleString('en-US')}`),
    ...(sample === undefined
      ? []
      : [`For example ${sample.method} ${sample.template}, request ${sample.requestId}.`]),
  ];
}

/** Whom an exception spares is not to believe that it ends with the others. */
export function leaveLines(
  { exceptions }: Pick<VersionRules, 'exceptions'>,
  consumer: string,
  now: EpochMs,
): readonly string[] {
  return exceptions
    .filter((each) => each.consumer === consumer && now < each.until)
    .map((each) => `An exception gives ${consumer} ${leaveInWords(each)}.`);
}
