// Content negotiation for services that speak JSON only: Accept and Content-Type.
import type { IncomingHttpHeaders } from 'node:http';

export const JSON_TYPE = 'application/json';
/** A partial change (RFC 7396); plain JSON is read as one too. */
export const MERGE_PATCH = 'application/merge-patch+json';

/** Whether Accept allows `application/json`. The most specific matching range decides (RFC 9110 §12.5.1). */
export function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept.trim() === '') return true;
  let nearest = -1;
  let weight = 0;
  for (const member of accept.split(',')) {
    const [range = '', ...parameters] = member.split(';').map((part) => part.trim().toLowerCase());
    const nearness = ['*/*', 'application/*', JSON_TYPE].indexOf(range);
    if (nearness < 0 || nearness < nearest) continue;
    const written = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    const own = written === undefined ? 1 : Number(written);
    weight = nearness > nearest ? own : Math.max(weight, own);
    nearest = nearness;
  }
  return weight > 0;
}

/** Whether the body is one of `types`, in UTF-8. A body without Content-Type counts as the first. */
export function isWrittenIn(
  types: readonly string[],
  { 'content-type': written }: IncomingHttpHeaders,
): boolean {
  if (written === undefined) return true;
  const [type = '', ...parameters] = written.split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  return types.includes(type) && (charset === undefined || /^"?utf-8"?$/.test(charset));
}
