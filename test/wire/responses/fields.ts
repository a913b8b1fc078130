// Hop-by-hop fields of the upstream, and fields that must reach the client unchanged (FWD-3, FWD-4, FWD-5).
import type { FieldTest, ResponseCase } from '../wire-case.ts';
import { head, relayed } from './rows.ts';

const answer = (...lines: readonly string[]): string =>
  `${head('200 OK', ...lines, 'Content-Length: 5')}hello`;

const dropped = (
  id: string,
  title: string,
  lines: readonly string[],
  ...withheld: FieldTest[]
): ResponseCase => relayed(id, 'FWD-3', title, answer(...lines), { body: 'hello', withheld });

export const answerFields: readonly ResponseCase[] = [
  dropped('r-hop-keep-alive', 'Keep-Alive', ['Keep-Alive: timeout=9, max=7'], ['keep-alive', /9/]),
  dropped('r-hop-proxy', 'Proxy-Connection', ['Proxy-Connection: keep-alive'], ['proxy-connection']),
  dropped(
    'r-hop-upgrade',
    'an offer to upgrade',
    ['Connection: Upgrade', 'Upgrade: h2c'],
    ['upgrade'],
    ['connection', /upgrade/i],
  ),
  dropped('r-hop-trailer', 'Trailer', ['Trailer: X-Sum'], ['trailer']),
  dropped('r-hop-te', 'TE', ['TE: gzip'], ['te']),
  dropped('r-named', 'a field that Connection names', ['Connection: X-Secret', 'X-Secret: 1'], ['x-secret']),
  dropped(
    'r-named-list',
    'several',
    ['Connection: close, x-secret , X-Other', 'X-Secret: 1', 'X-Other: 2'],
    ['x-secret'],
    ['x-other'],
  ),
  relayed(
    'r-cookies',
    'FWD-5',
    'cookies stay on lines of their own',
    answer('Set-Cookie: a=1; Path=/', 'Set-Cookie: b=2'),
    {
      kept: [
        ['set-cookie', /^a=1; Path=\/$/],
        ['set-cookie', /^b=2$/],
      ],
      times: 2,
    },
  ),
  relayed('r-date', 'FWD-9', 'Date of the upstream', answer('Date: Sun, 06 Nov 1994 08:49:37 GMT'), {
    kept: [['date', /^Sun, 06 Nov 1994 08:49:37 GMT$/]],
  }),
  relayed(
    'r-type',
    'FWD-4',
    'a type with parameters',
    answer('Content-Type: text/plain; charset="utf-8"; a=b'),
    {
      kept: [['content-type', /^text\/plain; charset="utf-8"; a=b$/]],
    },
  ),
  relayed('r-encoding', 'FWD-20', 'a Content-Encoding that is kept', answer('Content-Encoding: gzip'), {
    body: 'hello',
    kept: [['content-encoding', /^gzip$/]],
  }),
  relayed(
    'r-location',
    'FWD-4',
    'Location of the upstream',
    `${head('302 Found', 'Location: https://else.example/?a=%0d%0a', 'Content-Length: 0')}`,
    {
      status: [302],
      kept: [['location', /%0d%0a$/]],
    },
  ),
  relayed('r-underscore', 'FWD-4', 'a name with an underscore', answer('X_Odd: 1'), {
    kept: [['x_odd', /^1$/]],
  }),
];
