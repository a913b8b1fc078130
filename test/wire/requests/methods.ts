// Methods: tokens, case-sensitive, and without tunnels (RFC 9110 §9; FWD-8, FWD-15).
import type { RequestCase } from '../wire-case.ts';
import { either, refused, served } from './rows.ts';

const noMethod = (id: string, title: string, method: string): RequestCase =>
  refused(id, 'FWD-15', title, (w) => w.ask(method, [], w.canary), { requests: 2 });

/** The meaning of the method is unknown. Forwarding it in a valid message is lax. */
const unknown = (method: string, more: Partial<RequestCase> = {}): RequestCase =>
  either(`method-${method.toLowerCase()}`, 'FWD-15', `${method}, an unknown method`, (w) => w.ask(method), {
    status: [501],
    staysOpen: true,
    ...more,
  });

const known = (method: string): RequestCase =>
  served(`method-${method.toLowerCase()}`, 'FWD-4', method, (w) => w.ask(method), { methods: [method] });

export const methods: readonly RequestCase[] = [
  noMethod('method-braces', 'characters that no token has', 'GE{T}'),
  noMethod('method-slash', 'a slash', 'GET/'),
  noMethod('method-colon', 'a colon', 'GET:'),
  noMethod('method-nul', 'NUL', 'G\0ET'),
  noMethod('method-latin', 'a byte above 127', 'G\xcbT'),
  noMethod('method-quote', 'quotes', '"GET"'),
  noMethod('method-none', 'no method', ''),
  unknown('BREW'),
  unknown('VERSION-CONTROL2'),
  unknown('X'),
  { ...unknown('get'), status: [501, 400], title: 'get in small letters is another method' },
  { ...unknown('GeT'), id: 'method-mixed', status: [501, 400], title: 'GeT is another method' },
  {
    ...unknown('PRI'),
    status: [501, 505, 400, 0],
    title: 'PRI, which begins HTTP/2',
    pass: ['refused', 'closed', 'waiting'],
  },
  {
    ...refused('method-long', 'FWD-15 SMG-24', 'a method of 5000 letters', (w) => w.ask('A'.repeat(5_000))),
    status: [501, 400],
  },
  refused('method-trace', 'FWD-8', 'TRACE', (w) => w.ask('TRACE', ['Authorization: Bearer secret']), {
    status: [501, 405],
    staysOpen: true,
  }),
  refused(
    'method-connect',
    'FWD-8 WS-7',
    'CONNECT to another place',
    (w) => `CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n${w.canary}`,
    { status: [501, 405], lax: [], methods: ['CONNECT'] },
  ),
  refused('method-connect-path', 'FWD-8 WS-7', 'CONNECT to a path', (w) => w.ask('CONNECT', [], w.canary), {
    status: [501, 405, 400],
    lax: [],
  }),
  known('POST'),
  known('PUT'),
  known('PATCH'),
  known('DELETE'),
  known('HEAD'),
  known('OPTIONS'),
];
