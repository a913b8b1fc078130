// What the planes may do differently, and why that is right. All else is equal.
import { OFFERED_METHODS } from '../../gateway/exchange/request-view.ts';
import { type ComparedMessage, CUT, chunkedBody } from './messages.ts';
import type { Case, Seen } from './plane-side.ts';
import type { AccessLine } from './whole-gateway.ts';

/** Answers that Node's parser, as undici uses it, reads in another way than the fast plane, which reads them strictly. */
export function readsAnswerOtherwise({ answer }: Pick<Case, 'answer'>): boolean {
  const [first = '', ...others] = answer.split('\r\n\r\n');
  const isInterim = first.startsWith('HTTP/1.1 103');
  return (
    // undici reads the fields of an answer as UTF-8, and what was none can then not be written.
    /[\x80-\xff]/.test(answer) ||
    // Node joins the lines of a field that only requests have.
    /\r\ncookie:.*\r\ncookie:/is.test(answer) ||
    // undici takes the fields of an interim answer for those of the final one.
    (isInterim && /\r\n(?:connection|content-length|transfer-encoding):/i.test(first)) ||
    // It takes an answer in HTTP/2.0 or HTTP/0.9 for one in HTTP/1.1.
    /(?:^|\r\n)HTTP\/(?:2\.0|0\.9) /.test(answer) ||
    // It takes any octet for a part of a reason, a bare CR for the end of one, and lets line ends stand before an answer.
    /^HTTP\/1\.1 .*[^\t\r\n\x20-\x7e]/m.test(answer) ||
    /^HTTP\/1\.1 [^\n]*\r(?!\n)/m.test(answer) ||
    /^[\r\n]|\r\n\r\n[\r\n]/.test(answer) ||
    // It takes no offence at a framing in trailers.
    /\r\n0\r\n(?:.*\r\n)*(?:content-length|transfer-encoding):/i.test(answer) ||
    // A blank behind a length that comes in another read stays a part of it there.
    /\r\ncontent-length:[^\r]*\d[ \t]+\r\n/i.test(answer) ||
    // An answer that ends within its head: how much of its last line is judged.
    others.length <= (isInterim ? 1 : 0)
  );
}

/** Requests that the general plane reads in another way than the fast one. */
export function readsRequestOtherwise({ request, cut }: Pick<Case, 'request' | 'cut'>): boolean {
  const [method] = /^\s*\S*/.exec(request) ?? [''];
  const place = cut % (request.length + 1);
  return (
    // Node's parser takes this field for Connection.
    /\r\nproxy-connection:[^\r]*close/i.test(request) ||
    // Whether a method is unknown or none is told by the octets of one read.
    (place > 0 && place <= method.length && !(OFFERED_METHODS as readonly string[]).includes(method))
  );
}

const CONTINUE = 'HTTP/1.1 100 Continue';
const CLOSE = 'connection: close';

/** `unfinished`: its head does not end; `followed`: octets stand behind its first request; `alone`: neither. */
export type CaseKind = 'alone' | 'followed' | 'unfinished';

export function kindOf({ request }: Pick<Case, 'request'>): CaseKind {
  const end = request.indexOf('\r\n\r\n');
  if (end < 0) return 'unfinished';
  const head = request.slice(0, end + 2);
  const rest = request.slice(end + 4);
  const octets = /\r\ntransfer-encoding:/i.test(head)
    ? chunkedBody(rest).octets
    : Number(/\r\ncontent-length: *(\d+)\r/i.exec(head)?.[1] ?? 0);
  return octets < rest.length ? 'followed' : 'alone';
}

type Compared = readonly [fast: Partial<Seen>, general: Partial<Seen>];

/** What is compared of a case. */
export function compared(one: Case, fast: Seen, general: Seen): Compared {
  const kind = kindOf(one);
  // How much of its last line is judged before the line ends depends on the plane.
  if (kind === 'unfinished') return [{ upstream: fast.upstream }, { upstream: general.upstream }];
  const both = [comparedAlone(one, fast), comparedAlone(one, general)] as const;
  return kind === 'alone' ? both : comparedBehind(...both);
}

function comparedAlone({ request, answer, isEarly }: Case, asSeen: Seen): Seen {
  // On a busy machine the second piece of a body can come before its head is sent on: it then has a length and is whole.
  const seen = isEarly ? { ...asSeen, upstream: asSeen.upstream.map(withoutFraming) } : asSeen;
  const isUnasked = /\r\nexpect:/i.test(request) && !seen.answers.some(([[start]]) => start === CONTINUE);
  // Node's server ends the connection of a client that waited for a 100 and got another answer.
  const kept = isUnasked ? { ...seen, answers: withoutClosing(seen.answers), closed: true } : seen;
  // Of an answer that says close and is cut undici says that it is malformed.
  const isCut = /\r\n(?:proxy-)?connection:[^\r]*close/i.test(answer);
  return isCut ? { ...kept, lines: kept.lines.map(withoutReset) } : kept;
}

function withoutFraming([head, content]: ComparedMessage): ComparedMessage {
  const lines = head.filter((line) => !/^(?:content-length|transfer-encoding):/.test(line));
  return [lines, content.endsWith(CUT) ? content.slice(0, -CUT.length) : content];
}

function withoutReset(line: AccessLine): AccessLine {
  return line.aborted && line.fault === 'upstream_reset' ? { ...line, fault: 'upstream_invalid' } : line;
}

function withoutClosing(answers: Seen['answers']): Seen['answers'] {
  return answers.map(([head, content]) => [head.filter((line) => line !== CLOSE), content] as const);
}

/**
 * How much is read behind the first request before an answer that ends the connection depends on the plane: what only one
 * plane has done is left out, where the other one has ended the connection before.
 */
function comparedBehind(fast: Seen, general: Seen): Compared {
  const least = (part: 'answers' | 'upstream' | 'lines'): number =>
    Math.min(fast[part].length, general[part].length);
  const [shorter, longer] = fast.answers.length < general.answers.length ? [fast, general] : [general, fast];
  if (!shorter.closed && shorter.answers.length < longer.answers.length) return [fast, general];
  const begun = (seen: Seen): Seen => ({
    answers: withoutClosing(seen.answers.slice(0, least('answers'))),
    closed: true,
    upstream: seen.upstream.slice(0, least('upstream')),
    lines: seen.lines.slice(0, least('lines')),
  });
  return [begun(fast), begun(general)];
}
