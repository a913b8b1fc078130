// The request line and its target, without the meaning of the path (RFC 9112 §3; SMG-8, 11, 19, 20; VER-7).
import type { RequestCase } from '../wire-case.ts';
import { either, refused, served } from './rows.ts';

const line = (id: string, rules: string, title: string, write: (path: string) => string): RequestCase =>
  refused(id, rules, title, (w) => w.line(write(w.path), [], w.canary), { requests: 2 });

const odd = (id: string, rules: string, title: string, write: (path: string) => string): RequestCase => ({
  ...line(id, rules, title, write),
  send: (w) => w.line(write(w.path)),
  status: [400, 404],
  staysOpen: true,
});

const query = (id: string, title: string, written: string): RequestCase => ({
  ...served(id, 'VER-8', title, (w) => w.target(`${w.path}?${written}`)),
  query: written,
});

export const target: readonly RequestCase[] = [
  // RFC 9112 §3: a recipient may treat several spaces as one, if it forwards one.
  either('line-two-spaces', 'SMG-11', 'two spaces before the target', (w) =>
    w.line(`GET  ${w.path} HTTP/1.1`),
  ),
  either('line-two-spaces-behind', 'SMG-11', 'two spaces after the target', (w) =>
    w.line(`GET ${w.path}  HTTP/1.1`),
  ),
  line('line-tab', 'SMG-11', 'a tab for a space', (path) => `GET\t${path}\tHTTP/1.1`),
  {
    ...line('line-leading-space', 'SMG-11', 'a space before the method', (path) => ` GET ${path} HTTP/1.1`),
    status: [400, 501],
  },
  line('line-space-in-target', 'SMG-11', 'a space in the target', (path) => `GET ${path} /x HTTP/1.1`),
  line('line-tab-in-target', 'SMG-11', 'a tab in the target', (path) => `GET ${path}\tx HTTP/1.1`),
  line('line-nul', 'SMG-11', 'NUL in the target', (path) => `GET ${path}\0x HTTP/1.1`),
  line('line-cr', 'SMG-11', 'a bare CR in the target', (path) => `GET ${path}\rx HTTP/1.1`),
  line('line-lf', 'SMG-11', 'a bare LF after the target', (path) => `GET ${path}\nx HTTP/1.1`),
  line('line-del', 'SMG-20', 'DEL in the target', (path) => `GET ${path}\x7f HTTP/1.1`),
  line('line-latin', 'SMG-20', 'a byte above 127 in the target', (path) => `GET ${path}/\xe9 HTTP/1.1`),
  line('line-bell', 'SMG-11', 'a control character in the query', (path) => `GET ${path}?\x07 HTTP/1.1`),
  line('line-no-target', 'SMG-11', 'no target', () => 'GET HTTP/1.1'),
  { ...line('line-no-version', 'SMG-11 SMG-15', 'no version', (path) => `GET ${path}`), status: [400, 505] },
  odd('target-star', 'SMG-8', 'GET *', () => 'GET * HTTP/1.1'),
  odd('target-bare', 'VER-7', 'no slash at the beginning', (path) => `GET ${path.slice(1)} HTTP/1.1`),
  odd('target-at', 'VER-7', 'an at sign at the beginning', (path) => `GET @evil.example${path} HTTP/1.1`),
  odd('target-dot', 'VER-7', 'a dot at the beginning', (path) => `GET .evil.example${path} HTTP/1.1`),
  odd('target-colon', 'VER-7', 'a port at the beginning', (path) => `GET :80${path} HTTP/1.1`),
  odd('target-query-only', 'VER-7', 'only a query', () => 'GET ?x HTTP/1.1'),
  odd('target-fragment', 'SMG-19', 'a fragment', (path) => `GET ${path}#x HTTP/1.1`),
  odd('target-fragment-query', 'SMG-19', 'a fragment in the query', (path) => `GET ${path}?a#b HTTP/1.1`),
  odd('target-backslash', 'SMG-19', 'a backslash', (path) => `GET ${path}\\x HTTP/1.1`),
  odd(
    'target-backslashes',
    'SMG-19',
    'backslashes for slashes',
    (path) => `GET ${path.replaceAll('/', '\\')} HTTP/1.1`,
  ),
  {
    ...odd('target-options-star', 'SMG-8', 'OPTIONS * for the proxy itself', () => 'OPTIONS * HTTP/1.1'),
    pass: ['answered', 'refused'],
    status: [204, 200],
    methods: ['OPTIONS'],
  },
  query('query-dots', 'dots in the query stay', 'x=/../../y'),
  query('query-order', 'order and repetition stay', 'b=2&a=1&b=1&&c'),
  query('query-encoding', 'escapes stay as they are', 'a=%7e%2F%2f+%20&%61=b'),
  query('query-crlf', 'an encoded line end stays encoded', 'a=%0d%0aX-Injected:%201'),
  query('query-broken', 'a broken escape is not ours to judge', 'a=%zz&b=%'),
  query('query-marks', 'more question marks', 'a=?b?c'),
  query('query-json', 'brackets, colons and commas', 'q=[a:1,2]'),
  either('line-leading-crlf', 'SMG-11', 'an empty line before the request line', (w) => `\r\n${w.get()}`),
  either(
    'line-leading-crlfs',
    'SMG-11',
    'five empty lines before it',
    (w) => `${'\r\n'.repeat(5)}${w.get()}`,
  ),
  either('line-leading-lf', 'SMG-11', 'a bare LF before the request line', (w) => `\n${w.get()}`),
];
