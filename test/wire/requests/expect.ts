// Expect: 100-continue: a 100 before the final response, or only that (RFC 9110 §10.1.1; FWD-10, FWD-11).
import { chunks } from '../spot.ts';
import { type RequestCase, says } from '../wire-case.ts';
import { either, refused, served } from './rows.ts';

const EXPECT = 'Expect: 100-continue';

export const expectations: readonly RequestCase[] = [
  served(
    'expect-body',
    'FWD-10',
    'the body follows immediately',
    (w) => w.post([EXPECT, 'Content-Length: 5'], 'hello'),
    {
      body: 'hello',
    },
  ),
  served(
    'expect-later',
    'FWD-10',
    'the body follows later',
    (w) => [w.post([EXPECT, 'Content-Length: 5']), 'hello'],
    {
      gapMs: 150,
      body: 'hello',
    },
  ),
  served(
    'expect-chunked',
    'FWD-10',
    'a chunked body',
    (w) => w.post([EXPECT, 'Transfer-Encoding: chunked'], chunks('hello')),
    { body: 'hello' },
  ),
  served(
    'expect-case',
    'FWD-10',
    'in another case',
    (w) => w.post(['expect: 100-Continue', 'Content-Length: 5'], 'hello'),
    { body: 'hello' },
  ),
  either('expect-get', 'FWD-10', 'on a GET without a body', (w) => w.get([EXPECT])),
  either('expect-empty', 'FWD-10', 'with Content-Length: 0', (w) => w.post([EXPECT, 'Content-Length: 0'])),
  refused(
    'expect-other',
    'FWD-11',
    'another expectation',
    (w) => w.post(['Expect: miracles', 'Content-Length: 5'], 'hello'),
    {
      status: [417],
      staysOpen: true,
    },
  ),
  refused(
    'expect-more',
    'FWD-11',
    '100-continue and another',
    (w) => w.post(['Expect: 100-continue, miracles', 'Content-Length: 5'], 'hello'),
    { status: [417], staysOpen: true },
  ),
  refused('expect-twice', 'SMG-17', 'twice', (w) => w.post([EXPECT, EXPECT, 'Content-Length: 5'], 'hello'), {
    staysOpen: true,
  }),
  served(
    'expect-refused-upstream',
    'FWD-12',
    'the upstream refuses before the body, which contains a request',
    (w) => [w.post([EXPECT, `Content-Length: ${w.canary.length}`]), w.canary],
    {
      gapMs: 100,
      script: says('HTTP/1.1 413 Content Too Large\r\nX-Upstream: suite\r\nContent-Length: 3\r\n\r\nbig', {
        early: true,
      }),
    },
  ),
  refused(
    'expect-path',
    'FWD-10',
    'a refusal without a 100, and the body contains a request',
    (w) => [w.line(`POST ${w.path}/../x HTTP/1.1`, [EXPECT, `Content-Length: ${w.canary.length}`]), w.canary],
    { gapMs: 100, pass: ['refused', 'closed', 'forwarded'] },
  ),
];
