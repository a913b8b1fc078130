// Hop-by-hop fields, and fields that a client must not set (RFC 9110 §7.6.1; FWD-1, 2, 6, 11; XFF-1).
import { chunks } from '../spot.ts';
import type { FieldTest, RequestCase } from '../wire-case.ts';
import { either, served } from './rows.ts';

const dropped = (id: string, title: string, line: string, ...withheld: FieldTest[]): RequestCase =>
  served(id, 'FWD-2', title, (w) => w.get([line]), { withheld });

/** Listed in Connection: removed from the client's fields, without effect on the proxy's own. */
const named = (
  id: string,
  title: string,
  lines: readonly string[],
  more: Partial<RequestCase> = {},
): RequestCase => served(id, 'FWD-1', title, (w) => w.get(lines), { keepsOwnFields: true, ...more });

const forged = (name: string, value = 'forged.example'): RequestCase =>
  served(
    `forged-${name.toLowerCase()}`,
    'XFF-1',
    `${name} of a client that is not trusted`,
    (w) => w.get([`${name}: ${value}`]),
    { withheld: [[name, new RegExp(`^${value.replaceAll('.', '\\.')}$`)]] },
  );

export const hopByHop: readonly RequestCase[] = [
  dropped('hop-keep-alive', 'Keep-Alive', 'Keep-Alive: timeout=5', ['keep-alive']),
  dropped('hop-proxy-connection', 'Proxy-Connection', 'Proxy-Connection: keep-alive', ['proxy-connection']),
  dropped('hop-proxy-authorization', 'Proxy-Authorization', 'Proxy-Authorization: Basic eA==', [
    'proxy-authorization',
  ]),
  dropped('hop-te', 'TE', 'TE: gzip', ['te', /gzip/]),
  dropped('hop-te-trailers', 'TE: trailers, without Connection', 'TE: trailers;q=0.5', ['te', /q=/]),
  dropped('hop-trailer', 'Trailer', 'Trailer: X-Sum', ['trailer']),
  dropped('hop-upgrade', 'Upgrade that Connection does not name', 'Upgrade: websocket', ['upgrade']),
  dropped('hop-http2-settings', 'HTTP2-Settings', 'HTTP2-Settings: AAMAAABkAAQAAP__', ['http2-settings']),
  named('named-own', 'names a field of the client', ['Connection: X-Mine', 'X-Mine: 1'], {
    withheld: [['x-mine']],
  }),
  named('named-case', 'names it in another case', ['Connection: x-MINE', 'X-Mine: 1'], {
    withheld: [['x-mine']],
  }),
  named('named-list', 'names several', ['Connection: close , X-A,X-B', 'X-A: 1', 'X-B: 2'], {
    withheld: [['x-a'], ['x-b']],
  }),
  named('named-lines', 'on two lines', ['Connection: X-A', 'Connection: X-B', 'X-A: 1', 'X-B: 2'], {
    withheld: [['x-a'], ['x-b']],
  }),
  named('named-absent', 'names what is not there', ['Connection: X-Nothing']),
  named('named-empty', 'empty elements', ['Connection: , ,keep-alive, ,']),
  named('named-forwarded', "names the proxy's fields", [
    'Connection: X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host, Via, X-Request-Id, X-Real-IP, Forwarded',
  ]),
  named('named-host', 'names Host', ['Connection: Host']),
  named('named-version', 'names the version', ['Connection: API-Version', 'API-Version: v1']),
  named('named-connection', 'names itself', ['Connection: Connection, close']),
  served(
    'named-length',
    'FWD-1 SMG-21',
    'names Content-Length',
    (w) => w.post(['Connection: Content-Length', 'Content-Length: 5'], 'hello'),
    { body: 'hello' },
  ),
  served(
    'named-coding',
    'FWD-1 SMG-21',
    'names Transfer-Encoding',
    (w) => w.post(['Connection: Transfer-Encoding', 'Transfer-Encoding: chunked'], chunks('hello')),
    { body: 'hello' },
  ),
  either('named-junk', 'FWD-1', 'is not a list of names', (w) => w.get(['Connection: "a b", c d']), {
    staysOpen: true,
  }),
  forged('X-Forwarded-For', '6.6.6.6'),
  forged('X-Forwarded-Host'),
  forged('X-Forwarded-Proto', 'gopher'),
  forged('X-Real-IP', '6.6.6.6'),
  forged('Forwarded', 'for=6.6.6.6'),
  forged('X-Client-Cert'),
  forged('Client-Cert'),
  served('via-kept', 'FWD-6', 'Via grows by one', (w) => w.get(['Via: 1.0 fred']), {
    kept: [['via', /1\.0 fred/]],
  }),
];
