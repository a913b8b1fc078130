// Pipelined requests: served in order, and none after a refusal (RFC 9112 §9.3; SMG-26, FWD-12).
import { chunks } from '../spot.ts';
import { type RequestCase, says } from '../wire-case.ts';
import { refused, served } from './rows.ts';

const both = (
  id: string,
  title: string,
  send: RequestCase['send'],
  more: Partial<RequestCase> = {},
): RequestCase => served(id, 'SMG-21', title, send, { requests: 2, ...more });

const EARLY = says('HTTP/1.1 413 Content Too Large\r\nX-Upstream: suite\r\nContent-Length: 3\r\n\r\nbig', {
  early: true,
});

export const pipelining: readonly RequestCase[] = [
  both('pipe-two', 'two GETs', (w) => w.get() + w.canary),
  both('pipe-apart', 'two GETs, one after the other', (w) => [w.get(), w.canary], { gapMs: 100 }),
  both(
    'pipe-length',
    'a POST with a length, and a GET',
    (w) => w.post(['Content-Length: 5'], `hello${w.canary}`),
    {
      methods: ['POST', 'GET'],
    },
  ),
  both(
    'pipe-empty',
    'a POST with Content-Length: 0, and a GET',
    (w) => w.post(['Content-Length: 0'], w.canary),
    {
      methods: ['POST', 'GET'],
    },
  ),
  both(
    'pipe-chunked',
    'a chunked POST, and a GET',
    (w) => w.post(['Transfer-Encoding: chunked'], chunks('hello') + w.canary),
    { methods: ['POST', 'GET'] },
  ),
  both('pipe-bodiless', 'a POST without framing, and a GET', (w) => w.post([], w.canary), {
    methods: ['POST', 'GET'],
  }),
  both('pipe-head', 'a HEAD, and a GET', (w) => w.ask('HEAD', [], w.canary), { methods: ['HEAD', 'GET'] }),
  both('pipe-delete', 'a DELETE without framing, and a GET', (w) => w.ask('DELETE', [], w.canary), {
    methods: ['DELETE', 'GET'],
  }),
  both('pipe-crlf', 'an empty line between two requests', (w) => `${w.get()}\r\n${w.canary}`),
  both(
    'pipe-split',
    'cut in the middle of the second request',
    (w) => {
      const text = w.get() + w.canary;
      return [text.slice(0, -20), text.slice(-20)];
    },
    { gapMs: 60 },
  ),
  served('pipe-bytes', 'SMG-21', 'a request byte by byte', (w) => [...w.get()], { gapMs: 1 }),
  served('pipe-close', 'FWD-12', 'nothing after Connection: close is read', (w) =>
    w.get(['Connection: close'], w.canary),
  ),
  served('pipe-close-body', 'FWD-12', 'nothing after the body of a last request is read', (w) =>
    w.post(['Connection: close', 'Content-Length: 5'], `hello${w.canary}`),
  ),
  refused(
    'pipe-bad-first',
    'SMG-26',
    'nothing after a bad request is read',
    (w) => w.get(['X A: 1'], w.canary),
    { requests: 2 },
  ),
  refused(
    'pipe-bad-apart',
    'SMG-26',
    'nothing that arrives after a bad request is read',
    (w) => [w.get(['X A: 1']), w.canary],
    {
      gapMs: 30,
      requests: 2,
    },
  ),
  refused('pipe-bad-many', 'SMG-26', 'nor any of fifty', (w) => w.get(['X A: 1'], w.canary.repeat(50)), {
    requests: 51,
  }),
  served(
    'pipe-good-bad',
    'SMG-26',
    'a bad request does not cost the one before it its answer',
    (w) => `${w.get()}BROKEN\r\n\r\n${w.canary}`,
  ),
  served(
    'pipe-early',
    'FWD-12',
    'the upstream answers early, and the rest of the body is not a request',
    (w) => [w.post([`Content-Length: ${w.canary.length}`]), w.canary],
    { gapMs: 100, script: EARLY },
  ),
  served(
    'pipe-early-chunked',
    'FWD-12',
    'the same in chunks',
    (w) => [
      w.post(['Transfer-Encoding: chunked'], '5\r\nhello\r\n'),
      `${w.canary.length.toString(16)}\r\n${w.canary}\r\n0\r\n\r\n`,
    ],
    { gapMs: 100, script: EARLY },
  ),
];
