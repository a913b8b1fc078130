// Upgrades other than WebSocket are refused, or ignored and served as plain HTTP (WS-1, H2-7).
import { type RequestCase, says } from '../wire-case.ts';
import { either, refused } from './rows.ts';

const SETTINGS = 'HTTP2-Settings: AAMAAABkAAQAAP__';

/** Without a canary, which would be a second, valid request if the upgrade is ignored. */
const ignored = (
  id: string,
  title: string,
  lines: readonly string[],
  more: Partial<RequestCase> = {},
): RequestCase =>
  either(id, 'WS-1 H2-7', title, (w) => w.get(lines), {
    staysOpen: true,
    status: [200],
    withheld: [['upgrade'], ['http2-settings'], ['connection', /upgrade/i]],
    ...more,
  });

const OPEN = says(
  'HTTP/1.1 101 Switching Protocols\r\nX-Upstream: suite\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
);

export const upgrades: readonly RequestCase[] = [
  ignored('upgrade-h2c', 'h2c, as RFC 7540 had it', [
    'Connection: Upgrade, HTTP2-Settings',
    'Upgrade: h2c',
    SETTINGS,
  ]),
  ignored('upgrade-h2c-bare', 'h2c without its settings', ['Connection: Upgrade', 'Upgrade: h2c']),
  ignored('upgrade-h2c-list', 'h2c after another', [
    'Connection: Upgrade, HTTP2-Settings',
    'Upgrade: foo, h2c',
    SETTINGS,
  ]),
  ignored('upgrade-h2c-case', 'H2C', ['Connection: upgrade', 'Upgrade: H2C']),
  ignored('upgrade-tls', 'TLS/1.2', ['Connection: Upgrade', 'Upgrade: TLS/1.2']),
  ignored('upgrade-foo', 'an unknown protocol', ['Connection: Upgrade', 'Upgrade: foo/2']),
  ignored('upgrade-empty', 'an empty Upgrade', ['Connection: Upgrade', 'Upgrade: ']),
  ignored('upgrade-websocket-unnamed', 'WebSocket that Connection does not name', ['Upgrade: websocket']),
  either(
    'upgrade-then',
    'WS-1',
    'bytes after an ignored upgrade are the next request',
    (w) => w.get(['Connection: Upgrade', 'Upgrade: foo'], w.canary),
    { requests: 2, staysOpen: true, withheld: [['upgrade']] },
  ),
  either(
    'upgrade-post',
    'WS-1 SMG-21',
    'an ignored upgrade with a body',
    (w) => w.post(['Connection: Upgrade', 'Upgrade: h2c', 'Content-Length: 5'], 'hello'),
    { body: 'hello', staysOpen: true, withheld: [['upgrade']] },
  ),
  refused(
    'upgrade-answered',
    'FWD-13 WS-1',
    'an upstream that switches without a request to',
    (w) => w.get(['Connection: Upgrade', 'Upgrade: h2c'], w.canary),
    { script: OPEN, pass: ['unavailable', 'refused', 'closed'], lax: [], status: [502] },
  ),
];
