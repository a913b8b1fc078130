// Incomplete requests, ended by FIN or RST: no complete message may reach the upstream (RFC 9112 §8).
import { chunks } from '../spot.ts';
import type { RequestCase } from '../wire-case.ts';

const CUT_OFF: RequestCase['pass'] = ['refused', 'closed', 'waiting', 'unavailable'];

const cut = (
  id: string,
  title: string,
  send: RequestCase['send'],
  ends: readonly ('fin' | 'reset')[] = ['fin', 'reset'],
): RequestCase[] =>
  ends.map((end) => ({
    id: `${id}-${end}`,
    rules: ['SMG-21', 'FWD-17'],
    title: `${title}, then ${end === 'fin' ? 'FIN' : 'a reset'}`,
    send,
    end,
    truncated: true,
    staysOpen: true,
    pass: CUT_OFF,
  }));

export const truncated: readonly RequestCase[] = [
  ...cut('cut-length', 'three bytes of five', (w) => w.post(['Content-Length: 5'], 'hel')),
  ...cut('cut-length-none', 'no byte of five', (w) => w.post(['Content-Length: 5'])),
  ...cut('cut-length-late', 'three bytes of five, later', (w) => [w.post(['Content-Length: 5']), 'hel']),
  ...cut('cut-chunk', 'half a chunk', (w) => w.post(['Transfer-Encoding: chunked'], '5\r\nhel')),
  ...cut('cut-chunks', 'a chunk and no last one', (w) =>
    w.post(['Transfer-Encoding: chunked'], '5\r\nhello\r\n'),
  ),
  ...cut('cut-last-chunk', 'the last chunk without its end', (w) =>
    w.post(['Transfer-Encoding: chunked'], chunks('hello').slice(0, -2)),
  ),
  ...cut('cut-size', 'half a size', (w) => w.post(['Transfer-Encoding: chunked'], '5\r\nhello\r\n1')),
  ...cut('cut-trailer', 'half a trailer', (w) =>
    w.post(['Transfer-Encoding: chunked'], '5\r\nhello\r\n0\r\nX-Sum: 1'),
  ),
  ...cut('cut-head', 'half a head', (w) => w.get().slice(0, -3)),
  ...cut('cut-line', 'half a request line', (w) => w.get().slice(0, 20)),
  ...cut('cut-get', 'a GET with half its body', (w) => w.get(['Content-Length: 9'], 'half')),
  ...cut('cut-large', 'half of 100 KB', (w) => w.post(['Content-Length: 100000'], 'a'.repeat(50_000))),
];
