// Describes changes of brownout windows: added, removed, moved, or with another answer.
import type { EpochMs } from '../../policy/contract.ts';
import type { BrownoutWindow } from '../../policy/lifecycle/brownout-rule.ts';
import { dateInWords } from '../../policy/notation.ts';
import { moveInWords, spanInWords } from '../../policy/spans.ts';

/** `from` is absent for additions, `to` for removals. */
export interface Difference {
  /** The changed value, such as `sunset`. */
  readonly what: string;
  readonly from?: string;
  readonly to?: string;
  /** Size or direction: `+3 months`, `lowered`. */
  readonly by?: string;
}

type Windows = readonly BrownoutWindow[];

export function windowChanges(before: Windows, after: Windows): readonly Difference[] {
  const gone = before.filter((window) => !after.some((other) => sameTime(window, other)));
  const come = after.filter((window) => !before.some((other) => sameTime(window, other)));
  return [...timeChanges(gone, come), ...answerChanges(before, after)];
}

/** If as many windows with the same durations were removed and added, they count as moved. */
function timeChanges(gone: Windows, come: Windows): readonly Difference[] {
  const moved =
    gone.length > 0 &&
    gone.length === come.length &&
    gone.every((window, index) => durationOf(window) === durationOf(come[index] ?? window));
  const [first] = gone;
  const [then] = come;
  if (moved && first !== undefined && then !== undefined) {
    return [
      {
        what: noun(gone),
        from: formatWindows(gone),
        to: formatWindows(come),
        by: moveInWords(first.from, then.from),
      },
    ];
  }
  return [
    ...(gone.length === 0 ? [] : [{ what: noun(gone), from: formatWindows(gone) }]),
    ...(come.length === 0 ? [] : [{ what: noun(come), to: formatWindows(come) }]),
  ];
}

/** Groups windows at the same time by the change of their answer. */
function answerChanges(before: Windows, after: Windows): readonly Difference[] {
  const counts = new Map<string, { from: string; to: string; windows: BrownoutWindow[] }>();
  for (const window of before) {
    const other = after.find((each) => sameTime(window, each));
    if (other === undefined) continue;
    const [from, to] = [answer(window), answer(other)];
    if (from === to) continue;
    const alike = counts.getOrInsertComputed(`${from}\n${to}`, () => ({ from, to, windows: [] }));
    alike.windows.push(window);
  }
  return [...counts.values()].map(({ from, to, windows }) => ({
    what: `${noun(windows)} ${formatWindows(windows)}`,
    from,
    to,
  }));
}

function sameTime(a: BrownoutWindow, b: BrownoutWindow): boolean {
  return a.from === b.from && a.until === b.until;
}

function durationOf({ from, until }: BrownoutWindow): number {
  return until - from;
}

function noun({ length }: Windows): string {
  return length === 1 ? 'brownout window' : `${length} brownout windows`;
}

/** The first window, and the last if there are several. */
function formatWindows(windows: Windows): string {
  const [first] = windows;
  const last = windows.at(-1);
  if (first === undefined || last === undefined) return '';
  const begins = first === last ? clock(first.from) : `${clock(first.from)} to ${clock(last.from)}`;
  const alike = windows.every((window) => durationOf(window) === durationOf(first));
  const each = windows.length === 1 ? 'for' : 'each';
  return alike ? `${begins} ${each} ${spanInWords(first.from, first.until)}` : begins;
}

function clock(at: EpochMs): string {
  return dateInWords(at).replace(/:00Z$/, 'Z');
}

function answer({ status, share, message, announced }: BrownoutWindow): string {
  const callers = share === undefined ? '' : ` for ${Math.round(share * 100)}%`;
  const quoted = message === undefined ? '' : ` ${JSON.stringify(message)}`;
  return `(${status}${callers}${quoted}, announced ${dateInWords(announced)})`;
}
