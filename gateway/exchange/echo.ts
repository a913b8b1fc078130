// Which version was asked for and which one answered, told to the client where an API wants that (VER-6).
// Called when an answer is decorated.
import type { Evidence } from '../policy/versioning/resolution.ts';
import type { HeaderSink } from './answer-headers.ts';
import type { Decision } from './facts.ts';

const LONGEST = 64;

/** Sets the three fields in place, each where it is known; the upstream's own copies never count. */
export function echoVersion(headers: HeaderSink, { requested, version, phase }: Decision): void {
  headers.set('x-api-version-requested', requested === undefined ? undefined : printable(requested));
  headers.set('x-api-version-served', version?.label);
  headers.set('x-api-lifecycle-stage', phase?.stage);
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
