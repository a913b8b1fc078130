// Trailers must not become header fields (RFC 9110 §6.5.1; FWD-14).
import type { FieldTest, RequestCase } from '../wire-case.ts';
import { either, refused, served } from './rows.ts';

const CODING = 'Transfer-Encoding: chunked';
const body = (trailers: string): string => `5\r\nhello\r\n0\r\n${trailers}\r\n\r\n`;

const dropped = (id: string, title: string, trailers: string, withheld: FieldTest): RequestCase =>
  either(id, 'FWD-14', title, (w) => w.post([CODING], body(trailers)), {
    body: 'hello',
    withheld: [withheld],
  });

const broken = (id: string, rules: string, title: string, trailers: string): RequestCase =>
  refused(id, rules, title, (w) => w.post([CODING], `${body(trailers)}${w.canary}`), {
    body: 'hello',
    requests: 2,
    methods: ['POST', 'GET'],
    withheld: [['b']],
  });

export const trailers: readonly RequestCase[] = [
  served(
    'trailer-harmless',
    'FWD-14',
    'a checksum',
    (w) => w.post([CODING, 'Trailer: X-Sum'], body('X-Sum: 1')),
    {
      body: 'hello',
      withheld: [['x-sum']],
    },
  ),
  dropped('trailer-authorization', 'credentials', 'Authorization: Bearer x', ['authorization']),
  dropped('trailer-length', 'a length', 'Content-Length: 0', ['content-length', /^0$/]),
  dropped('trailer-host', 'a host', 'Host: evil.example', ['host', /evil/]),
  dropped('trailer-coding', 'a coding', 'Transfer-Encoding: gzip', ['transfer-encoding', /gzip/]),
  dropped('trailer-forwarded', 'an address', 'X-Forwarded-For: 6.6.6.6', ['x-forwarded-for', /6\.6\.6\.6/]),
  dropped('trailer-version', 'a version', 'API-Version: v9', ['api-version', /v9/]),
  dropped('trailer-cookie', 'a cookie', 'Cookie: a=b', ['cookie']),
  dropped('trailer-connection', 'Connection', 'Connection: keep-alive, host', ['x-none']),
  broken('trailer-no-colon', 'SMG-13', 'a line without a colon', 'nonsense'),
  broken('trailer-space-colon', 'SMG-9', 'a space before the colon', 'X-Sum : 1'),
  broken('trailer-folded', 'SMG-10', 'a folded line', 'X-Sum: 1\r\n 2'),
  broken('trailer-nul', 'SMG-11', 'NUL in a value', 'X-Sum: a\0b'),
  broken('trailer-bare-lf', 'SMG-11', 'a bare LF after a value', 'X-Sum: a\nb: c'),
  refused(
    'trailer-request',
    'SMG-13',
    'a request in the place of trailers',
    (w) => w.post([CODING], `5\r\nhello\r\n0\r\n${w.canary}`),
    { body: 'hello' },
  ),
  refused(
    'trailer-large',
    'SMG-24',
    'a trailer of 100 KB',
    (w) => w.post([CODING], body(`X-Sum: ${'a'.repeat(100_000)}`)),
    { body: 'hello', status: [431] },
  ),
];
