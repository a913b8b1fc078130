// Validates a requested pause and makes it.
import type { EpochMs } from '../contract.ts';
import { dateInWords } from '../notation.ts';
import type { Label } from '../versioning/resolution.ts';
import { hasDates, isUnversioned } from './api-life.ts';
import type { Pause } from './override.ts';
import { effectsOf, type PausableApi, type PauseEffect } from './pause-effects.ts';

export interface PauseRequest {
  readonly api: string;
  readonly label: Label | undefined;
  readonly author: string;
  readonly reason: string;
  readonly from: EpochMs | undefined;
  readonly until: EpochMs;
}

export interface PauseProblem {
  readonly field: keyof PauseRequest;
  /** A sentence without its subject, which is the field. */
  readonly message: string;
}

export type PauseDecision =
  | { readonly kind: 'pause'; readonly pause: Pause; readonly effects: readonly PauseEffect[] }
  | { readonly kind: 'refused'; readonly problems: readonly PauseProblem[] };

/** A forgotten pause must end. */
export const LONGEST_PAUSE_MS = 90 * 86_400_000;
const LONGEST_TEXT = 200;
/** No control, format or lone-surrogate characters and no line separators. */
const PRINTABLE = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+$/u;

/** Makes the pause, or lists every problem. `now`: lifecycle instant. `id`: a new one. `apis`: of the plan in force. */
export function makePause(
  request: PauseRequest,
  { apis, now, id }: { readonly apis: readonly PausableApi[]; readonly now: EpochMs; readonly id: string },
): PauseDecision {
  const problems = [
    ...subjectProblems(request, apis),
    ...timeProblems(request, now),
    ...textProblems('author', request.author),
    ...textProblems('reason', request.reason),
  ];
  if (problems.length > 0) return { kind: 'refused', problems };
  const { api, from = now } = request;
  const label = isVersionOfUnversioned(request, apis) ? undefined : request.label;
  // Whole seconds, as in the headers that announce it.
  const until = Math.ceil(request.until / 1000) * 1000;
  const [author, reason] = [request.author.trim(), request.reason.trim()];
  const pause: Pause = { kind: 'pause', id, api, label, author, reason, from, until };
  return { kind: 'pause', pause, effects: effectsOf(pause, apis) };
}

function subjectProblems(
  { api: name, label }: PauseRequest,
  apis: readonly PausableApi[],
): readonly PauseProblem[] {
  const api = apis.find((each) => each.name === name);
  if (api === undefined) {
    const names = apis.filter(canBePaused).map((each) => each.name);
    return [{ field: 'api', message: `unknown API (known: ${listed(names)})` }];
  }
  if (!canBePaused(api))
    return [{ field: 'api', message: 'an API without versions and without dates has nothing to pause' }];
  if (label === undefined || api.versions.has(label)) return [];
  return [
    { field: 'label', message: `unknown version of ${name} (known: ${listed([...api.versions.keys()])})` },
  ];
}

/** For an API without versions, a pause of its only version is a pause of the API. */
function isVersionOfUnversioned({ api, label }: PauseRequest, apis: readonly PausableApi[]): boolean {
  const named = label === undefined ? undefined : apis.find(({ name }) => name === api)?.versions.get(label);
  return named !== undefined && isUnversioned(named.schedule);
}

function canBePaused({ versions }: PausableApi): boolean {
  return [...versions.values()].some(({ schedule }) => hasDates(schedule));
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}

function timeProblems(request: PauseRequest, now: EpochMs): readonly PauseProblem[] {
  const { from = now, until } = request;
  const problems: PauseProblem[] = [];
  const begins = Math.max(from, now);
  const latest = now + LONGEST_PAUSE_MS;
  if (from < now) problems.push({ field: 'from', message: 'is in the past; omit it to begin now' });
  if (until <= begins)
    problems.push({
      field: 'until',
      message: `must be later than ${wholeSeconds(begins)}, when the pause begins`,
    });
  if (until > latest) {
    const message = `a pause ends ${wholeSeconds(latest)} at the latest, 90 days from now; for longer, extend the sunset`;
    problems.push({ field: 'until', message });
  }
  return problems;
}

function textProblems(field: 'author' | 'reason', text: string): readonly PauseProblem[] {
  const trimmed = text.trim();
  if (trimmed === '') return [{ field, message: 'must not be empty' }];
  if (trimmed.length > LONGEST_TEXT)
    return [{ field, message: `may have at most ${LONGEST_TEXT} characters` }];
  return PRINTABLE.test(trimmed) ? [] : [{ field, message: 'must be one line of printable text' }];
}

function wholeSeconds(at: EpochMs): string {
  return dateInWords(Math.floor(at / 1000) * 1000);
}
