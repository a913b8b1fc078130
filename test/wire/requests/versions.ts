// The version in the request line, on which framing and persistence depend (RFC 9112 §2.3; SMG-15, SMG-16).
import { chunks } from '../spot.ts';
import type { RequestCase } from '../wire-case.ts';
import { either, refused, served } from './rows.ts';

const version = (
  id: string,
  title: string,
  written: string,
  status: readonly number[] = [505],
): RequestCase =>
  refused(id, 'SMG-15 SMG-16', title, (w) => w.line(`GET ${w.path} ${written}`, [], w.canary), {
    status,
    requests: 2,
  });

const old = (
  id: string,
  title: string,
  lines: readonly string[],
  more: Partial<RequestCase> = {},
): RequestCase => served(id, 'SMG-14', title, (w) => w.line(`GET ${w.path} HTTP/1.0`, lines), more);

export const versions: readonly RequestCase[] = [
  version('version-2', 'HTTP/2.0', 'HTTP/2.0'),
  version('version-3', 'HTTP/3.0', 'HTTP/3.0'),
  version('version-12', 'HTTP/1.2', 'HTTP/1.2'),
  version('version-9', 'HTTP/9.9', 'HTTP/9.9'),
  version('version-0', 'HTTP/0.9 with a header', 'HTTP/0.9'),
  version('version-110', 'HTTP/1.10', 'HTTP/1.10', [400, 505]),
  version('version-011', 'HTTP/01.1', 'HTTP/01.1', [400, 505]),
  version('version-lower', 'http/1.1', 'http/1.1', [400, 505]),
  version('version-short', 'HTTP/1', 'HTTP/1', [400, 505]),
  version('version-comma', 'HTTP/1,1', 'HTTP/1,1', [400, 505]),
  version('version-minus', 'HTTP/-1.1', 'HTTP/-1.1', [400, 505]),
  version('version-space', 'a space after the version', 'HTTP/1.1 ', [400, 505]),
  version('version-junk', 'a word after the version', 'HTTP/1.1 x', [400, 505]),
  version('version-nul', 'NUL after the version', 'HTTP/1.1\0', [400, 505]),
  version('version-https', 'HTTPS/1.1', 'HTTPS/1.1', [400, 505]),
  version('version-icap', 'another protocol', 'ICY/1.0', [400, 505]),
  old('http10', 'HTTP/1.0 with Host', []),
  old('http10-keep-alive', 'HTTP/1.0 with keep-alive', ['Connection: keep-alive']),
  old('http10-expect', 'an expectation is ignored', ['Expect: 100-continue']),
  old('http10-upgrade', 'an upgrade is ignored', ['Connection: Upgrade', 'Upgrade: websocket'], {
    withheld: [['upgrade']],
  }),
  served(
    'http10-body',
    'SMG-14',
    'HTTP/1.0 with a body',
    (w) => w.line(`POST ${w.path} HTTP/1.0`, ['Content-Length: 5'], 'hello'),
    { body: 'hello' },
  ),
  either('http10-no-host', 'SMG-6', 'HTTP/1.0 without Host', (w) => `GET ${w.path} HTTP/1.0\r\n\r\n`),
  served('http10-then', 'SMG-14', 'what follows an HTTP/1.0 request without keep-alive is not read', (w) =>
    w.line(`GET ${w.path} HTTP/1.0`, [], w.canary),
  ),
  refused('http10-chunked', 'SMG-14', 'HTTP/1.0 with a chunked body', (w) =>
    w.line(`POST ${w.path} HTTP/1.0`, ['Transfer-Encoding: chunked'], chunks('hello')),
  ),
  refused('http09', 'SMG-15', 'HTTP/0.9', (w) => `GET ${w.path}\r\n`, {
    pass: ['refused', 'closed', 'waiting'],
    status: [400, 505, 0],
  }),
  refused(
    'http2-preface',
    'SMG-16',
    'the beginning of HTTP/2',
    (w) => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${w.canary}`,
    {
      pass: ['refused', 'closed', 'waiting'],
      status: [400, 501, 505, 0],
    },
  ),
  refused(
    'tls-on-http',
    'TLS-5',
    'the beginning of TLS inside the connection',
    () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    {
      pass: ['refused', 'closed', 'waiting'],
      status: [400, 0],
    },
  ),
];
