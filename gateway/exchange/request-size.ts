// The bound on a request's body, judged by its Content-Length; a body without one is measured on its way by upstream/.
// A step of the pipeline.
import type { VersionRules } from '../plan/plan.ts';
import type { Refusal } from './directive.ts';
import type { RequestView } from './request-view.ts';

export function tooLarge(
  { maxBody }: Pick<VersionRules, 'maxBody'>,
  { headers }: Pick<RequestView, 'headers'>,
): Refusal | undefined {
  const length = headers.get('content-length');
  return length !== undefined && Number(length) > maxBody
    ? { reason: 'body_too_large', most: maxBody }
    : undefined;
}
