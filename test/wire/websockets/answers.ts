// Upstreams that do not answer a valid handshake with a valid 101: no tunnel (RFC 6455 §4.1; WS-3, WS-5).
import { byteByByte, type Script, says, type WebsocketCase } from '../wire-case.ts';
import { FRAME, switches } from './rows.ts';

/** No tunnel, because the upstream did not switch. */
const noTunnel = (
  id: string,
  title: string,
  script: Script,
  more: Partial<WebsocketCase> = {},
): WebsocketCase => ({
  id,
  rules: ['WS-3'],
  title,
  script,
  pass: ['unavailable', 'closed'],
  status: [502],
  after: FRAME,
  ...more,
});

/** The client sees the fault as well as the proxy. */
const CHECKED: Partial<WebsocketCase> = { lax: ['switched'] };

const relayed = (id: string, title: string, status: string, ...lines: readonly string[]): WebsocketCase => ({
  id,
  rules: ['WS-3'],
  title,
  script: says(
    [`HTTP/1.1 ${status}`, 'X-Upstream: suite', ...lines, 'Content-Length: 2', '', 'no'].join('\r\n'),
    { end: 'fin' },
  ),
  pass: ['forwarded'],
  lax: ['unavailable'],
  status: [Number(status.slice(0, 3))],
  after: FRAME,
});

export const upstreamAnswers: readonly WebsocketCase[] = [
  noTunnel(
    'w-accept-none',
    '101 without Sec-WebSocket-Accept',
    switches({ accept: () => undefined }),
    CHECKED,
  ),
  noTunnel(
    'w-accept-wrong',
    '101 with another Sec-WebSocket-Accept',
    switches({ accept: () => 'AAAAAAAAAAAAAAAAAAAAAAAAAAA=' }),
    CHECKED,
  ),
  noTunnel(
    'w-accept-case',
    '101 with its letters changed',
    switches({ accept: (right) => right.toLowerCase() }),
    CHECKED,
  ),
  noTunnel('w-upgrade-none', '101 without Upgrade', switches({ upgrade: undefined })),
  noTunnel('w-upgrade-other', '101 to another protocol', switches({ upgrade: 'h2c' })),
  noTunnel('w-answer-100', '100 only', says('HTTP/1.1 100 Continue\r\n\r\n', { end: 'fin' })),
  noTunnel('w-answer-102', 'a status of 199', switches({ status: '199 Nearly' }, { end: 'fin' })),
  noTunnel('w-answer-garbage', 'garbage', says('SSH-2.0-OpenSSH_9.9\r\n\r\n', { end: 'fin' })),
  noTunnel('w-answer-version', 'HTTP/3.0', says('HTTP/3.0 101 Switching Protocols\r\n\r\n', { end: 'fin' })),
  noTunnel('w-answer-none', 'nothing, then FIN', says('', { end: 'fin' })),
  noTunnel('w-answer-reset', 'nothing, then a reset', says('', { end: 'reset' })),
  noTunnel('w-answer-half', 'half a 101', says('HTTP/1.1 101 Switching Proto', { end: 'fin' })),
  noTunnel('w-answer-silent', 'silence', says(''), { status: [504] }),
  noTunnel('w-answer-nul', '101 with NUL in a field', switches({ more: ['X-A: a\0b'] })),
  noTunnel('w-answer-cr', '101 with a bare CR in a field', switches({ more: ['X-A: a\rX-Injected: 1'] })),
  noTunnel('w-answer-length', '101 with a length', switches({ more: ['Content-Length: 5'] }), {
    pass: ['unavailable', 'closed', 'switched'],
    status: [101, 502],
  }),
  relayed('w-answer-200', '200', '200 OK'),
  relayed(
    'w-answer-200-upgrade',
    '200 with upgrade fields',
    '200 OK',
    'Connection: Upgrade',
    'Upgrade: websocket',
  ),
  relayed('w-answer-301', '301', '301 Moved Permanently', 'Location: /else'),
  relayed('w-answer-401', '401', '401 Unauthorized', 'WWW-Authenticate: Bearer'),
  relayed('w-answer-403', '403', '403 Forbidden'),
  relayed('w-answer-404', '404', '404 Not Found'),
  relayed('w-answer-426', '426', '426 Upgrade Required', 'Sec-WebSocket-Version: 13'),
  relayed('w-answer-500', '500', '500 Internal Server Error'),
  relayed('w-answer-503', '503', '503 Service Unavailable', 'Retry-After: 5'),
  {
    id: 'w-answer-canary',
    rules: ['WS-3'],
    title: 'a request after a handshake that the upstream refuses',
    script: says('HTTP/1.1 403 Forbidden\r\nX-Upstream: suite\r\nContent-Length: 2\r\n\r\nno'),
    send: (w) =>
      `${w.get(['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='])}${w.canary}`,
    pass: ['forwarded'],
    status: [403],
  },
  {
    id: 'w-answer-103',
    rules: ['WS-3', 'FWD-13'],
    title: '103 before the 101',
    script: {
      pieces: (request) => ['HTTP/1.1 103 Early Hints\r\n\r\n', ...switches().pieces(request)],
    },
    pass: ['switched', 'unavailable'],
    after: FRAME,
  },
  {
    id: 'w-answer-slow',
    rules: ['WS-3'],
    title: 'a 101 byte by byte',
    script: { gapMs: 1, pieces: (request) => byteByByte(switches().pieces(request).join('')) },
    pass: ['switched'],
    after: FRAME,
  },
  {
    id: 'w-answer-fields',
    rules: ['WS-3', 'FWD-5'],
    title: 'fields and cookies of a 101 pass',
    script: switches({ more: ['Set-Cookie: a=1', 'Sec-WebSocket-Protocol: chat'] }),
    pass: ['switched'],
    answered: [
      ['set-cookie', /^a=1$/],
      ['sec-websocket-protocol', /^chat$/],
    ],
    after: FRAME,
  },
  {
    id: 'w-answer-then',
    rules: ['WS-3'],
    title: 'a frame in the same packet as the 101',
    script: switches({ after: '\x81\x04seen' }),
    pass: ['switched'],
  },
];
