// The forwarded path is the path that was routed and checked, and is not normalised (RFC 3986 §6.2.2; VER-7).
import type { RequestCase } from '../wire-case.ts';
import { refused } from './rows.ts';

/** `rest` follows the path of the case. */
const unclear = (id: string, title: string, rest: string): RequestCase => ({
  ...refused(id, 'VER-7', title, (w) => w.target(`${w.path}${rest}?t=${w.tag}`), {
    pass: ['refused', 'closed', 'redirected', 'normalised'],
    staysOpen: true,
  }),
  readsPath: true,
});

/** Unambiguous, so it is forwarded. */
const clear = (id: string, title: string, rest: string): RequestCase => ({
  ...unclear(id, title, rest),
  pass: ['forwarded', 'refused', 'redirected', 'normalised'],
  status: [200],
});

export const path: readonly RequestCase[] = [
  unclear('path-dotdot', 'a dot segment', '/../x'),
  unclear('path-dotdot-end', 'a dot segment at the end', '/..'),
  unclear('path-dotdots', 'many dot segments', '/../../../../../../etc/passwd'),
  unclear('path-dot', 'a single dot', '/./x'),
  unclear('path-dot-end', 'a single dot at the end', '/.'),
  unclear('path-dotdot-encoded', 'both dots encoded', '/%2e%2e/x'),
  unclear('path-dotdot-upper', 'both dots encoded in capitals', '/%2E%2E/x'),
  unclear('path-dotdot-half', 'the second dot encoded', '/.%2e/x'),
  unclear('path-dotdot-first', 'the first dot encoded', '/%2e./x'),
  unclear('path-dot-encoded', 'a single dot, encoded', '/%2e/x'),
  unclear('path-dotdot-twice', 'dots encoded twice', '/%252e%252e/x'),
  unclear('path-dotdot-thrice', 'dots encoded three times', '/%25252e%25252e/x'),
  unclear('path-dotdot-slash', 'dots before an encoded slash', '/..%2fx'),
  unclear('path-dots-slash', 'dots and slash encoded', '/%2e%2e%2fx'),
  unclear('path-slash-dots', 'dots after an encoded slash', '/a%2f..'),
  unclear('path-slash-dots-mid', 'dots between encoded slashes', '/a%2f..%2fb'),
  unclear('path-dots-slash-twice', 'dots before a slash encoded twice', '/..%252fx'),
  unclear('path-dotdot-backslash', 'dots before a backslash', '/..\\x'),
  unclear('path-dotdot-5c', 'dots before an encoded backslash', '/..%5cx'),
  unclear('path-dotdot-255c', 'dots before a backslash encoded twice', '/..%255cx'),
  unclear('path-dotdot-semicolon', 'dots before a parameter', '/..;/x'),
  unclear('path-dotdot-parameter', 'dots before a named parameter', '/..;a=b/x'),
  unclear('path-dotdot-3b', 'dots before an encoded semicolon', '/..%3b/x'),
  unclear('path-dotdot-nul', 'dots before NUL', '/..%00/x'),
  unclear('path-dotdot-3f', 'dots before an encoded question mark', '/..%3fx'),
  unclear('path-dotdot-23', 'dots before an encoded number sign', '/..%23x'),
  unclear('path-overlong-dot', 'a dot of two octets', '/%c0%ae%c0%ae/x'),
  unclear('path-overlong-slash', 'a slash of two octets', '/..%c0%afx'),
  unclear('path-overlong-three', 'a dot of three octets', '/%e0%80%ae%e0%80%ae/x'),
  unclear('path-backslash', 'a backslash', '/a\\b'),
  unclear('path-5c', 'an encoded backslash', '/a%5cb'),
  unclear('path-nul', 'NUL', '/%00x'),
  unclear('path-cr', 'an encoded CR', '/a%0dX-Injected:1'),
  unclear('path-crlf', 'an encoded line end', '/a%0d%0aX-Injected:1'),
  unclear('path-tab', 'an encoded tab', '/a%09b'),
  unclear('path-del', 'an encoded DEL', '/a%7fb'),
  unclear('path-escape-zz', 'an escape that is no hex', '/%zz'),
  unclear('path-escape-short', 'half an escape', '/a%4'),
  unclear('path-escape-none', 'a bare percent sign', '/100%'),
  unclear('path-escape-unicode', 'an escape of JavaScript', '/%u002e%u002e/x'),
  clear('path-slash-encoded', 'an encoded slash stays one', '/a%2fb'),
  clear('path-question-encoded', 'an encoded question mark stays one', '/a%3fb=1'),
  clear('path-hash-encoded', 'an encoded number sign stays one', '/a%23b'),
  clear('path-percent-encoded', 'an encoded percent sign stays one', '/a%25b'),
  clear('path-space-encoded', 'an encoded space stays one', '/a%20b'),
  clear('path-semicolon', 'parameters stay', '/a;b=c/d'),
  clear('path-unreserved', 'an escaped unreserved character', '/%7euser'),
  clear('path-utf8', 'UTF-8, encoded', '/%c3%a9'),
  clear('path-three-dots', 'three dots are a name', '/.../x'),
  clear('path-dot-name', 'a name that begins with a dot', '/.well-known/x'),
  clear('path-trailing-dot', 'a name that ends with a dot', '/a./x'),
  clear('path-inner-slashes', 'an empty segment in the tail', '/a//b'),
  clear('path-at', 'an at sign and a colon in the tail', '/@a:b'),
];
