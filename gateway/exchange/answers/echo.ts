// Response fields for the requested version, the served version and its stage (VER-6), and the media type (NEG-5).
import { FIELD } from '../../plan/upstreams/answer-fields.ts';
import { answeredType } from '../../policy/versioning/media-type.ts';
import type { Evidence, Label, MediaTemplate } from '../../policy/versioning/resolution.ts';
import type { HeaderLines } from '../answer-headers.ts';
import type { Decision } from '../facts.ts';

const LONGEST = 64;

/** The upstream's copies are removed. */
export function echoVersion(headers: HeaderLines, { requested, version, phase }: Decision): void {
  const { echo } = FIELD;
  headers.set('x-api-version-requested', requested === undefined ? undefined : printable(requested), echo);
  headers.set('x-api-version-served', version?.label, echo);
  headers.set('x-api-lifecycle-stage', phase?.stage, echo);
}

function printable(text: string): string {
  return text
    .slice(0, LONGEST)
    .replace(/[^\x21-\x7e ]/g, '?')
    .trim();
}

/** Undefined if the request names no version. */
export function requestedVersion({ claims, preferences }: Evidence): string | undefined {
  const preferred = preferences.flatMap(({ claim, also }) => (claim === undefined ? [] : [claim, ...also]));
  const values = [...claims, ...preferred].map(({ value }) => value);
  return values.length === 0 ? undefined : [...new Set(values)].join(', ');
}

/** Edits Content-Type in place. Only for a 2xx or 304: an error is not a representation of the resource. */
export function answerInKind(status: number, headers: HeaderLines, form: MediaTemplate, label: Label): void {
  const type = headers.get('content-type');
  if (typeof type !== 'string' || (status !== 304 && (status < 200 || status > 299))) return;
  headers.set('content-type', answeredType(form, label, type) ?? type);
}
