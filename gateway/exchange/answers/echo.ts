// Response fields that name the version requested and served, its stage (VER-6) and its media type (NEG-5).
import { FIELD } from '../../plan/upstreams/answer-fields.ts';
import { answeredType } from '../../policy/versioning/media-type.ts';
import type { Evidence, Label, MediaTemplate } from '../../policy/versioning/resolution.ts';
import type { HeaderLines } from '../answer-headers.ts';
import type { Decision } from '../facts.ts';

const LONGEST = 64;

/** Sets the three fields in place, each where it is known; the upstream's own copies never count. */
export function echoVersion(headers: HeaderLines, { requested, version, phase }: Decision): void {
  const { echo } = FIELD;
  headers.set('x-api-version-requested', requested === undefined ? undefined : printable(requested), echo);
  headers.set('x-api-version-served', version?.label, echo);
  headers.set('x-api-lifecycle-stage', phase?.stage, echo);
}

/** A client's own words: only what may stand in a header line, and not much of it. */
function printable(text: string): string {
  return text
    .slice(0, LONGEST)
    .replace(/[^\x21-\x7e ]/g, '?')
    .trim();
}

/** Every version the request names, each once, in the order found; undefined when it names none. */
export function requestedVersion({ claims, preferences }: Evidence): string | undefined {
  const preferred = preferences.flatMap(({ claim, also }) => (claim === undefined ? [] : [claim, ...also]));
  const values = [...claims, ...preferred].map(({ value }) => value);
  return values.length === 0 ? undefined : [...new Set(values)].join(', ');
}

/**
 * Edits Content-Type in place. Only of what answers the request itself: an error is no representation of what was asked
 * for. A 304 says what the 200 would have said.
 */
export function answerInKind(status: number, headers: HeaderLines, form: MediaTemplate, label: Label): void {
  const type = headers.get('content-type');
  if (typeof type !== 'string' || (status !== 304 && (status < 200 || status > 299))) return;
  headers.set('content-type', answeredType(form, label, type) ?? type);
}
