// The exceptions of a version beside what their consumers call: who passes until when, and whether anybody uses the leave.
// Part of the entries of usage-versions.ts.
import type { VersionRules } from '../plan/plan.ts';
import type { UsedVersion } from '../plan/usage-answers.ts';
import type { EpochMs } from '../policy/contract.ts';
import { type Exception, endsSoon, leaveInWords } from '../policy/lifecycle/exceptions.ts';
import { counted } from '../policy/notation.ts';
import type { Counted } from '../policy/usage/rows.ts';
import { instantText } from './answers.ts';

const DAY_MS = 86_400_000;

type ExceptionBody = UsedVersion['exceptions'][number];

/** Those of the version, and those that an operation has of its own; those that have run out too. */
export function exceptionsOf({ exceptions, operations }: VersionRules): readonly Exception[] {
  const all = [...exceptions, ...(operations?.list.flatMap((each) => each.exceptions) ?? [])];
  // Of an operation with a sunset of its own nobody has leave by that of the version.
  const meant = all.filter(({ from }) => from.length > 0);
  return [...new Map(meant.map((each) => [keyOf(each), each])).values()];
}

/** `use`: what its consumer called of the version. */
export function exceptionBody(exception: Exception, use: Counted | undefined, now: EpochMs): ExceptionBody {
  const { consumer, from, until, why, by } = exception;
  return {
    consumer,
    from: [...from],
    until: instantText(until),
    why,
    by,
    calls: use?.calls ?? 0,
    lastCall: use === undefined ? null : instantText(use.lastAt),
    summary: inWords(exception, now),
  };
}

function inWords(exception: Exception, now: EpochMs): string {
  const { consumer, until } = exception;
  const leave = leaveInWords(exception);
  if (now >= until) return `${consumer} had ${leave}: it has run out`;
  const days = Math.floor((until - now) / DAY_MS);
  return `${consumer} has ${leave}${endsSoon(exception, now) ? `: it ends in ${counted(days, 'day')}` : ''}`;
}

/** An operation takes over those of its version, each with the phases that its own dates give. */
function keyOf({ consumer, from, until, why }: Exception): string {
  return JSON.stringify([consumer, from, until, why]);
}
