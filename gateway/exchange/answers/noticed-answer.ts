// An upstream's answer with a body notice: its head, whether its body is edited, and its last bytes.
import { noticedTag } from '../../policy/body-notice/conditions.ts';
import { type Coding, judgeHead, MOST_BYTES, type NoticeOutcome } from '../../policy/body-notice/editable.ts';
import { type BodyNotice, renewDigest, splice } from '../../policy/body-notice/notice.ts';
import { fieldText, type HeaderLines } from '../answer-headers.ts';

export type Treatment =
  /** `outcome` undefined: not an answer that could carry a notice. */
  | { readonly kind: 'pass'; readonly outcome: NoticeOutcome | undefined }
  /** The body is wanted whole before the head is written, if coded and decoded it has at most `most` bytes. */
  | { readonly kind: 'hold'; readonly coding: Coding | undefined; readonly most: number };

/** What they say of the bytes is not true of edited ones (BODY-4, BODY-5). */
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
 * Edits the head in place. On what GET and HEAD answer every entity tag is one under the notice, edited body or not, so
 * that a 304 and a HEAD say what GET would. Tags of writes stay: they name what the client sent or another resource
 * (RFC 9110 §9.3.4), and the gateway takes them as they are.
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
    // RNG-1: ranges are not asked for on the client's behalf.
    headers.remove('accept-ranges');
  }
  if (status === 304) {
    // A cache would copy them into the edited answer it has stored (RFC 9111 §3.2).
    forget(headers, [...ABOUT_BYTES, ...DIGESTS, 'content-length', 'content-encoding']);
    return LEFT;
  }
  const judged = judgeHead(status, headers.record());
  if (judged === undefined) return LEFT;
  if (judged.kind === 'left') return { kind: 'pass', outcome: method === 'HEAD' ? undefined : judged.why };
  if (method !== 'HEAD') return { kind: 'hold', coding: judged.coding, most: MOST_BYTES };
  forget(headers, [...ABOUT_BYTES, ...DIGESTS, 'content-length', 'content-encoding']);
  return LEFT;
}

/**
 * `content` is what `received` decodes to. Where the notice was added the head is edited in place to say so of the new
 * bytes; otherwise both stay as received.
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
