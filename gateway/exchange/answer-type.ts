// NEG-5: an answer in the media type the client asked for, where the upstream speaks of plain JSON or the like.
// Called by the forwarder for every answer of an upstream, before it is decorated.
import { answeredType } from '../policy/versioning/media-type.ts';
import type { HeaderSink } from './answer-headers.ts';
import type { ForwardOrder } from './directive.ts';

/**
 * Edits Content-Type in place. Only of what answers the request itself: an error is no representation of what was asked
 * for. A 304 says what the 200 would have said.
 */
export function answerInKind(
  status: number,
  headers: HeaderSink,
  { answerForm, label }: Pick<ForwardOrder, 'answerForm' | 'label'>,
): void {
  if (answerForm === undefined) return;
  const type = headers.get('content-type');
  if (typeof type !== 'string') return;
  if (status !== 304 && (status < 200 || status > 299)) return;
  headers.set('content-type', answeredType(answerForm, label, type) ?? type);
}
