// Repeated fields: single values are refused, lists arrive with all values (RFC 9110 §5.3; SMG-17).
import type { RequestCase } from '../wire-case.ts';
import { refused, served } from './rows.ts';

const twice = (name: string, first: string, second: string): RequestCase =>
  refused(
    `twice-${name.toLowerCase()}`,
    'SMG-17',
    `${name} twice`,
    (w) => w.get([`${name}: ${first}`, 'Accept: */*', `${name.toLowerCase()}: ${second}`]),
    { staysOpen: true },
  );

const list = (name: string, first: string, second: string): RequestCase =>
  served(
    `list-${name.toLowerCase()}`,
    'FWD-4 SMG-17',
    `${name} on two lines`,
    (w) => w.get([`${name}: ${first}`, `${name}: ${second}`]),
    {
      kept: [
        [name, new RegExp(first)],
        [name, new RegExp(second)],
      ],
    },
  );

export const repeatedFields: readonly RequestCase[] = [
  twice('Authorization', 'Bearer a', 'Bearer b'),
  twice('Content-Type', 'text/plain', 'application/json'),
  twice('If-Modified-Since', 'Fri, 01 Jan 2021 00:00:00 GMT', 'Sat, 02 Jan 2021 00:00:00 GMT'),
  twice('If-Unmodified-Since', 'Fri, 01 Jan 2021 00:00:00 GMT', 'Sat, 02 Jan 2021 00:00:00 GMT'),
  twice('If-Range', '"a"', '"b"'),
  twice('Range', 'bytes=0-1', 'bytes=2-3'),
  twice('Origin', 'https://a.example', 'https://b.example'),
  twice('Referer', 'https://a.example/', 'https://b.example/'),
  twice('User-Agent', 'a', 'b'),
  twice('From', 'a@a.example', 'b@b.example'),
  twice('Max-Forwards', '1', '2'),
  twice('Idempotency-Key', '"a"', '"b"'),
  list('Accept', 'text/plain', 'text/html'),
  list('Accept-Language', 'de', 'en'),
  list('If-None-Match', '"a"', '"b"'),
  list('Cache-Control', 'no-cache', 'max-age=0'),
  list('Cookie', 'a=1', 'b=2'),
  list('X-Anything', 'one', 'two'),
];
