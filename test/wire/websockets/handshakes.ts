// Handshakes of clients: valid ones open a tunnel, others never do (RFC 6455 §4.2.1; WS-1, WS-2, WS-3).
import type { FieldTest, WebsocketCase } from '../wire-case.ts';
import { KEY, lines } from './rows.ts';

type Changed = Readonly<Record<string, string | undefined>>;

const opens = (
  id: string,
  title: string,
  changed: Changed = {},
  more: readonly string[] = [],
  tests: Partial<WebsocketCase> = {},
): WebsocketCase => ({
  id,
  rules: ['WS-3'],
  title,
  send: (w) => w.get(lines(changed, ...more)),
  pass: ['switched'],
  lax: ['refused'],
  ...tests,
});

/** 400 or the status of the row. A tunnel that both ends accept anyway is lax. */
const refused = (
  id: string,
  title: string,
  changed: Changed,
  more: readonly string[] = [],
  tests: Partial<WebsocketCase> = {},
): WebsocketCase => ({
  id,
  rules: ['WS-2'],
  title,
  send: (w) => w.get(lines(changed, ...more)),
  pass: ['refused', 'closed'],
  lax: ['forwarded', 'unavailable', 'switched'],
  status: [400],
  ...tests,
});

/** Not a handshake, so it is served without its upgrade. */
const plain = (
  id: string,
  title: string,
  changed: Changed,
  tests: Partial<WebsocketCase> = {},
): WebsocketCase => ({
  id,
  rules: ['WS-1'],
  title,
  send: (w) => w.get(lines(changed)),
  pass: ['forwarded', 'refused'],
  status: [200],
  staysOpen: true,
  withheld: [['upgrade'], ['connection', /upgrade/i]] satisfies FieldTest[],
  ...tests,
});

export const handshakes: readonly WebsocketCase[] = [
  opens('w-open', 'a sound handshake', {}, [], {
    kept: [
      ['upgrade', /^websocket$/i],
      ['connection', /upgrade/i],
    ],
  }),
  opens('w-case', 'in another case', { Upgrade: 'WebSocket', Connection: 'upgrade' }),
  opens('w-list', 'Connection as a list', { Connection: 'keep-alive, Upgrade' }),
  opens(
    'w-origin',
    'Origin and protocols pass',
    {},
    ['Origin: https://app.example', 'Sec-WebSocket-Protocol: chat, v2'],
    {
      kept: [
        ['origin', /^https:\/\/app\.example$/],
        ['sec-websocket-protocol', /^chat, ?v2$/],
      ],
    },
  ),
  opens(
    'w-extensions',
    'extensions pass',
    {},
    ['Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits'],
    {
      kept: [['sec-websocket-extensions', /^permessage-deflate; client_max_window_bits$/]],
    },
  ),
  opens('w-cookie', 'cookies pass', {}, ['Cookie: a=b'], { kept: [['cookie', /^a=b$/]] }),
  opens(
    'w-named',
    'a field that Connection names is not forwarded',
    { Connection: 'Upgrade, X-Mine' },
    ['X-Mine: 1'],
    {
      withheld: [['x-mine']],
      rules: ['WS-3', 'FWD-1'],
    },
  ),
  opens('w-forged', 'a forged address is not forwarded', {}, ['X-Forwarded-For: 6.6.6.6'], {
    withheld: [['x-forwarded-for', /^6\.6\.6\.6$/]],
    rules: ['WS-3', 'XFF-1'],
  }),
  opens('w-underscore', 'an alias with underscores is not forwarded', {}, ['X_Forwarded_For: 6.6.6.6'], {
    withheld: [['x_forwarded_for']],
    rules: ['WS-3', 'SMG-25'],
  }),
  opens('w-apart', 'in two pieces', {}, [], {
    send: (w) => [w.get(lines()).slice(0, 40), w.get(lines()).slice(40)],
    gapMs: 50,
  }),
  refused('w-version-8', 'version 8', { 'Sec-WebSocket-Version': '8' }, [], {
    status: [426],
    answered: [['sec-websocket-version', /\b13\b/]],
  }),
  refused('w-version-none', 'no version', { 'Sec-WebSocket-Version': undefined }, [], { status: [426, 400] }),
  refused('w-version-word', 'a version that is a word', { 'Sec-WebSocket-Version': 'new' }, [], {
    status: [426, 400],
  }),
  refused('w-version-list', 'two versions in a list', { 'Sec-WebSocket-Version': '13, 8' }, [], {
    status: [426, 400],
  }),
  refused('w-key-none', 'no key', { 'Sec-WebSocket-Key': undefined }),
  refused('w-key-empty', 'an empty key', { 'Sec-WebSocket-Key': '' }),
  refused('w-key-short', 'a key of fifteen bytes', { 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25j' }),
  refused('w-key-long', 'a key of seventeen bytes', { 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZTE=' }),
  refused('w-key-junk', 'a key that is no base64', { 'Sec-WebSocket-Key': '!!!!!!!!!!!!!!!!!!!!!!==' }),
  refused('w-key-twice', 'two keys', {}, [`Sec-WebSocket-Key: ${KEY}`]),
  refused('w-body', 'with a body', {}, ['Content-Length: 5'], {
    send: (w) => w.get(lines({}, 'Content-Length: 5'), 'hello'),
  }),
  refused('w-chunked', 'with a chunked body', {}, [], {
    send: (w) => w.get(lines({}, 'Transfer-Encoding: chunked'), `0\r\n\r\n${w.canary}`),
    rules: ['WS-2', 'SMG-1'],
  }),
  refused('w-post', 'with POST', {}, [], { send: (w) => w.post(lines({}, 'Content-Length: 0')) }),
  refused('w-path', 'to a path that can be read in two ways', {}, [], {
    send: (w) => w.line(`GET ${w.path}/%2e%2e/x HTTP/1.1`, lines()),
    rules: ['WS-1', 'VER-7'],
    lax: ['switched'],
  }),
  refused('w-host', 'for another host', {}, [], {
    send: (w) => w.get(lines()).replace(`Host: ${w.host}`, 'Host: evil.example'),
    rules: ['WS-1'],
    status: [421, 404, 400],
    lax: ['switched'],
  }),
  refused('w-two-hosts', 'for two hosts', {}, ['Host: evil.example'], { rules: ['WS-1', 'SMG-6'] }),
  refused('w-nul', 'NUL in a field', {}, ['X-A: a\0b'], { rules: ['WS-1', 'SMG-11'] }),
  refused('w-folded', 'a folded Upgrade', { Upgrade: undefined }, ['Upgrade:', ' websocket'], {
    rules: ['WS-1', 'SMG-10'],
  }),
  plain('w-http10', 'in HTTP/1.0', {}, { send: (w) => w.line(`GET ${w.path} HTTP/1.0`, lines()) }),
  plain('w-unnamed', 'an upgrade that Connection does not name', { Connection: 'keep-alive' }),
  plain('w-no-connection', 'no Connection', { Connection: undefined }),
  plain('w-h2c', 'h2c instead', { Upgrade: 'h2c' }),
  plain('w-other', 'an unknown protocol', { Upgrade: 'foo' }),
  plain('w-prefix', 'a protocol that begins like it', { Upgrade: 'websocketx' }),
];
