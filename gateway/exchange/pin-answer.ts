// What a caller that names no version is told where the pin of its account stands in its way.
// Part of refusal-answer.ts.
import type { VersioningRefusal } from '../policy/versioning/resolution.ts';
import { type ErrorDescription, unavailable } from './error-body.ts';
import type { Decision } from './facts.ts';

type PinsUnavailable = Extract<VersioningRefusal, { reason: 'pins_unavailable' }>;

/** The way round is said: a request that names its version needs no pin. */
export function describeMissingPins(refusal: PinsUnavailable, facts: Decision): ErrorDescription {
  const message = `The version of this account cannot be looked up right now. Name one${placeOf(facts)} to go on.`;
  return unavailable(message, refusal);
}

/** The end of a version that the request did not name says why it met it, and how it meets another. */
export function tellOfPin(description: ErrorDescription, facts: Decision): ErrorDescription {
  if (facts.carrier !== 'pin' || facts.version === undefined) return description;
  const { label } = facts.version;
  const message = `${description.message} This account is pinned to ${label}: name another version${placeOf(facts)}.`;
  return { ...description, message };
}

/** The header in the operator's spelling, where there is one. */
function placeOf({ api }: Decision): string {
  const [header] = api?.resolution.header === undefined ? [] : api.vary.split(', ');
  return header === undefined ? '' : ` in ${header}`;
}
