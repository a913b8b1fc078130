// The permitted differences between the planes, with reasons. All else must be equal.
import { OFFERED_METHODS } from '../../gateway/exchange/request-view.ts';
import { type ComparedMessage, CUT, chunkedBody } from './messages.ts';
import type { Case, Seen } from './plane-side.ts';
import type { AccessLine } from './whole-gateway.ts';

/** Responses that the fast plane reads more strictly than Node's parser in undici. */
export function readsAnswerOtherwise({ answer }: Pick<Case, 'answer'>): boolean {
  const [first = '', ...others] = answer.split('\r\n\r\n');
  const isInterim = first.startsWith('HTTP/1.1 103');
  return (
    // undici reads fields as UTF-8. Other octets can then not be written.
    /[\x80-\xff]/.test(answer) ||
    // Node joins the lines of this request field.
    /\r\ncookie:.*\r\ncookie:/is.test(answer) ||
    // undici uses the fields of an interim response for the final one.
    (isInterim && /\r\n(?:connection|content-length|transfer-encoding):/i.test(first)) ||
    // undici accepts HTTP/2.0 and HTTP/0.9 as HTTP/1.1.
    /(?:^|\r\n)HTTP\/(?:2\.0|0\.9) /.test(answer) ||
    // undici accepts any octet in a reason, a bare CR as its end, and line ends before a response.
    /^HTTP\/1\.1 .*[^\t\r\n\x20-\x7e]/m.test(answer) ||
    /^HTTP\/1\.1 [^\n]*\r(?!\n)/m.test(answer) ||
    /^[\r\n]|\r\n\r\n[\r\n]/.test(answer) ||
    // undici accepts framing fields in trailers.
    /\r\n0\r\n(?:.*\r\n)*(?:content-length|transfer-encoding):/i.test(answer) ||
    // In undici, a blank after a length stays part of it if it arrives in another read.
    /\r\ncontent-length:[^\r]*\d[ \t]+\r\n/i.test(answer) ||
    // An incomplete head: the planes judge different parts of its last line.
    others.length <= (isInterim ? 1 : 0)
  );
}

/** Requests that the general plane reads differently from the fast one. */
export function readsRequestOtherwise({ request, cut }: Pick<Case, 'request' | 'cut'>): boolean {
  const [method] = /^\s*\S*/.exec(request) ?? [''];
  const place = cut % (request.length + 1);
  return (
    // Node's parser treats this field as Connection.
    /\r\nproxy-connection:[^\r]*close/i.test(request) ||
    // Node's parser accepts several spaces around the target, which the fast plane refuses (SMG-11).
    /[A-Z] (?: \/|\/[!-~]* {2}HTTP)/.test(request) ||
    // Node's parser decides from the octets of one read whether a method is unknown or invalid.
    (place > 0 && place <= method.length && !(OFFERED_METHODS as readonly string[]).includes(method))
  );
}

const CONTINUE = 'HTTP/1.1 100 Continue';
const CLOSE = 'connection: close';

/** `unfinished`: the head is incomplete. `followed`: octets follow the first request. `alone`: neither. */
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

export function compared(one: Case, fast: Seen, general: Seen): Compared {
  const kind = kindOf(one);
  // The planes judge different parts of an incomplete last line.
  if (kind === 'unfinished') return [{ upstream: fast.upstream }, { upstream: general.upstream }];
  const both = [comparedAlone(one, fast), comparedAlone(one, general)] as const;
  return kind === 'alone' ? both : comparedBehind(...both);
}

function comparedAlone({ request, answer, isEarly }: Case, asSeen: Seen): Seen {
  // On a busy machine, the rest of a body can arrive before its head is forwarded, which then has a length.
  const seen = isEarly ? { ...asSeen, upstream: asSeen.upstream.map(withoutFraming) } : asSeen;
  const isUnasked = /\r\nexpect:/i.test(request) && !seen.answers.some(([[start]]) => start === CONTINUE);
  // Node's server closes the connection of a client that expected a 100 and got another response.
  const kept = isUnasked ? { ...seen, answers: withoutClosing(seen.answers), closed: true } : seen;
  // undici reports an incomplete response with `close` as malformed.
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
 * How many octets after the first request are read before a closing response depends on the plane. If one
 * plane closed the connection earlier, the additional results of the other are omitted.
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
