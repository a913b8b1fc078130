// Bodies where some parsers expect none, and bodies that must arrive unchanged (SMG-18, SMG-21, FWD-20).
import { chunks } from '../spot.ts';
import type { RequestCase } from '../wire-case.ts';
import { either, served } from './rows.ts';

/** The body is a request. A proxy that drops the framing forwards that request. */
const bodied = (method: string): RequestCase[] => [
  either(
    `body-${method.toLowerCase()}-length`,
    'SMG-18',
    `${method} with a length`,
    (w) => w.ask(method, [`Content-Length: ${w.canary.length}`], w.canary),
    { methods: [method], staysOpen: true },
  ),
  either(
    `body-${method.toLowerCase()}-chunked`,
    'SMG-18 SMG-21',
    `${method} with chunks`,
    (w) => w.ask(method, ['Transfer-Encoding: chunked'], chunks(w.canary)),
    { methods: [method], staysOpen: true },
  ),
];

const exact = (id: string, title: string, type: string, body: string): RequestCase[] => [
  served(
    `${id}-length`,
    'FWD-20',
    title,
    (w) => w.post([`Content-Type: ${type}`, `Content-Length: ${body.length}`], body),
    { body, kept: [['content-type']] },
  ),
  served(
    `${id}-chunked`,
    'FWD-20',
    `${title}, in chunks`,
    (w) => w.post([`Content-Type: ${type}`, 'Transfer-Encoding: chunked'], chunks(body)),
    { body, kept: [['content-type']] },
  ),
];

export const bodies: readonly RequestCase[] = [
  ...['GET', 'HEAD', 'DELETE', 'OPTIONS', 'PUT', 'PATCH'].flatMap(bodied),
  ...exact(
    'exact-json',
    'large numbers and duplicate keys',
    'application/json',
    '{"a":12345678901234567890,"a":1.0}',
  ),
  ...exact('exact-no-json', 'invalid JSON', 'application/json', '{"a":'),
  ...exact(
    'exact-binary',
    'every byte',
    'application/octet-stream',
    String.fromCharCode(...Array.from({ length: 256 }, (_, at) => at)),
  ),
  ...exact('exact-form', 'a form', 'application/x-www-form-urlencoded', 'a=%zz&a=b+c'),
  ...exact(
    'exact-multipart',
    'a multipart body',
    'multipart/form-data; boundary=x',
    '--x\r\nA: b\r\n\r\nc\r\n--x--\r\n',
  ),
  served('exact-no-type', 'FWD-20', 'no Content-Type at all', (w) => w.post(['Content-Length: 5'], 'hello'), {
    body: 'hello',
  }),
  served(
    'exact-odd-type',
    'FWD-20',
    'a Content-Type with a tab in it',
    (w) => w.post(['Content-Type: application/json\t; a=b', 'Content-Length: 5'], 'hello'),
    { body: 'hello' },
  ),
  served(
    'exact-encoded',
    'FWD-20',
    'a Content-Encoding that is kept',
    (w) => w.post(['Content-Encoding: gzip', 'Content-Length: 5'], 'hello'),
    { body: 'hello', kept: [['content-encoding', /^gzip$/]] },
  ),
];
