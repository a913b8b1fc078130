// Adds the body notice to an upstream's response: edits its head, and its body if it can be edited.
import { noticedTag } from '../../policy/body-notice/conditions.ts';
import { type Coding, judgeHead, MAX_BYTES, type NoticeOutcome } from '../../policy/body-notice/editable.ts';
import { type BodyNotice, renewDigest, splice } from '../../policy/body-notice/notice.ts';
import { fieldText, type HeaderLines } from '../answer-headers.ts';

export type Treatment =
  /** `outcome`: undefined if the response could not carry a notice. */
  | { readonly kind: 'pass'; readonly outcome: NoticeOutcome | undefined }
  /** Read the body before the head is sent. `most`: bytes, encoded and decoded. */
  | { readonly kind: 'hold'; readonly coding: Coding | undefined; readonly most: number };

/** Fields that describe the original bytes and are wrong for edited ones (BODY-4, BODY-5). */
const ABOUT_BYTES = [
  'last-modified',
  'digest',
  'content-md5',
  'unencoded-digest',
  'signature',
  'signature-input',
] as const;
const DIGESTS = ['content-digest', 'repr-digest'] as const;

const LEFT: Treatment = { kind: 'pass', outcome: undefined };

/**
 * Edits the head in place. In responses to GET and HEAD every entity tag gets the suffix of the notice, even if the
 * body is not edited, so that a 304 and a HEAD match the GET. Responses to writes keep their tags: those name what the
 * client sent or another resource (RFC 9110 §9.3.4). The gateway accepts both forms.
 */
export function treatHead(
  { suffix }: BodyNotice,
  method: string,
  status: number,
  headers: HeaderLines,
): Treatment {
  if (method === 'GET' || method === 'HEAD') {
    const etag = headers.get('etag');
    if (typeof etag === 'string') headers.set('etag', noticedTag(etag, suffix));
    // RNG-1: the gateway does not forward range requests for an edited body.
    headers.remove('accept-ranges');
  }
  if (status === 304) {
    // A cache would copy these fields into the edited response that it stores (RFC 9111 §3.2).
    forget(headers, [...ABOUT_BYTES, ...DIGESTS, 'content-length', 'content-encoding']);
    return LEFT;
  }
  const judged = judgeHead(status, headers.record());
  if (judged === undefined) return LEFT;
  if (judged.kind === 'left') return { kind: 'pass', outcome: method === 'HEAD' ? undefined : judged.why };
  if (method !== 'HEAD') return { kind: 'hold', coding: judged.coding, most: MAX_BYTES };
  forget(headers, [...ABOUT_BYTES, ...DIGESTS, 'content-length', 'content-encoding']);
  return LEFT;
}

/**
 * `content`: the decoded `received`. If the notice is added, the head is updated in place. Else both stay as received.
 */
export function editBody(
  notice: BodyNotice,
  headers: HeaderLines,
  { received, content }: { readonly received: Buffer; readonly content: Buffer },
): { readonly outcome: NoticeOutcome; readonly body: Buffer } {
  const spliced = splice(content, notice);
  if (spliced.kind === 'left') return { outcome: spliced.why, body: received };
  const { body } = spliced;
  const digests: [string, string | undefined][] = [];
  for (const name of DIGESTS) {
    const field = headers.get(name);
    if (field === undefined) continue;
    const renewed = renewDigest(fieldText(field), received, body);
    if (renewed === 'mismatch') return { outcome: 'digest', body: received };
    digests.push([name, renewed]);
  }
  forget(headers, [...ABOUT_BYTES, 'content-encoding']);
  for (const [name, renewed] of digests) headers.set(name, renewed);
  headers.set('content-length', String(body.length));
  return { outcome: 'added', body };
}

function forget(headers: HeaderLines, names: readonly string[]): void {
  for (const name of names) headers.remove(name);
}
