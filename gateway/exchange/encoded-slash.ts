// A slash in a path that is written %2F: an upstream that decodes it sees other segments than those that were judged.
// A step of the pipeline.
import type { ApiPlan } from '../plan/plan.ts';
import type { Refusal } from './directive.ts';

const REFUSED: Refusal = {
  reason: 'request_malformed',
  status: 400,
  message: 'The path of this API cannot hold an encoded slash.',
};

/** VER-7: of the tail, where the API rejects it there; before that it is no part of a path that matches. */
export function encodedSlash({ encodedSlash }: ApiPlan, tail: string): Refusal | undefined {
  return encodedSlash === 'reject' && tail.includes('%2F') ? REFUSED : undefined;
}
