// Statuses with their own rules: 1xx, 204, 304, HEAD, and an unexpected 101 (SMG-23, FWD-13, RFC 9110 §15).
import { type ResponseCase, says } from '../wire-case.ts';
import { cleaned, faulty, head, relayed, STRAY } from './rows.ts';

const OK = `${head('200 OK', 'Content-Length: 5')}hello`;
const interim = (status: string, ...lines: readonly string[]): string =>
  [`HTTP/1.1 ${status}`, ...lines, '', ''].join('\r\n');
const passes = (status: number, reason: string): ResponseCase =>
  relayed(
    `r-status-${status}`,
    'FWD-4',
    `${status} ${reason}`,
    `${head(`${status} ${reason}`, 'Content-Length: 5')}hello`,
    {
      status: [status],
      body: 'hello',
    },
  );

export const statuses: readonly ResponseCase[] = [
  relayed('r-100', 'FWD-13', '100 before the answer', interim('100 Continue') + OK, { body: 'hello' }),
  relayed('r-102', 'FWD-13', '102 before the answer', interim('102 Processing') + OK, { body: 'hello' }),
  relayed(
    'r-103',
    'FWD-13',
    '103 before the answer',
    interim('103 Early Hints', 'Link: </a.css>; rel=preload') + OK,
    { body: 'hello' },
  ),
  relayed(
    'r-1xx-many',
    'FWD-13',
    'several of them',
    interim('100 Continue') + interim('103 Early Hints').repeat(3) + OK,
    {
      body: 'hello',
    },
  ),
  relayed(
    'r-1xx-apart',
    'FWD-13',
    '103, and the answer later',
    { pieces: () => [interim('103 Early Hints'), OK], gapMs: 60 },
    {
      body: 'hello',
    },
  ),
  cleaned('r-199', 'FWD-13', 'an unknown interim status', interim('199 Nobody Knows') + OK, {
    body: 'hello',
  }),
  cleaned('r-100-length', 'SMG-23', '100 with a length', interim('100 Continue', 'Content-Length: 5') + OK, {
    body: 'hello',
  }),
  faulty('r-100-only', 'FWD-18', '100, then FIN', interim('100 Continue')),
  faulty('r-103-only', 'FWD-18', '103, then a reset', says(interim('103 Early Hints'), { end: 'reset' })),
  faulty(
    'r-101',
    'FWD-13',
    'an unrequested 101',
    `${head('101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: websocket')}${STRAY}`,
    {
      lax: [],
    },
  ),
  faulty('r-101-bare', 'FWD-13', '101 without saying to what', `${head('101 Switching Protocols')}${STRAY}`, {
    lax: [],
  }),
  faulty(
    'r-101-after',
    'FWD-13',
    '101 after 100',
    `${interim('100 Continue')}${head('101 Switching Protocols', 'Upgrade: foo')}${STRAY}`,
    { lax: [] },
  ),
  relayed('r-204', 'SMG-23', '204', head('204 No Content'), { status: [204] }),
  cleaned('r-204-length', 'SMG-23', '204 with a length', says(head('204 No Content', 'Content-Length: 5'))),
  cleaned(
    'r-204-zero',
    'SMG-23',
    '204 with a length of zero',
    says(head('204 No Content', 'Content-Length: 0')),
  ),
  cleaned(
    'r-204-body',
    'SMG-22 SMG-23',
    '204 with a body',
    says(`${head('204 No Content', 'Content-Length: 5')}hello`),
  ),
  cleaned(
    'r-204-stray',
    'SMG-22',
    '204 with an answer for a body',
    says(`${head('204 No Content')}${STRAY}`),
  ),
  cleaned(
    'r-204-chunked',
    'SMG-23',
    '204 with chunks',
    says(`${head('204 No Content', 'Transfer-Encoding: chunked')}0\r\n\r\n`),
  ),
  relayed('r-205', 'FWD-4', '205', head('205 Reset Content', 'Content-Length: 0'), { status: [205] }),
  relayed('r-304', 'SMG-23', '304', says(head('304 Not Modified', 'ETag: "a"')), { status: [304] }),
  relayed(
    'r-304-length',
    'SMG-23',
    '304 with the length of the GET',
    says(head('304 Not Modified', 'Content-Length: 5')),
    { status: [304] },
  ),
  cleaned(
    'r-304-body',
    'SMG-22',
    '304 with an answer for a body',
    says(`${head('304 Not Modified')}${STRAY}`),
  ),
  relayed('r-head', 'SMG-23', 'HEAD with the length of the GET', says(head('200 OK', 'Content-Length: 5')), {
    method: 'HEAD',
    body: '',
  }),
  relayed(
    'r-head-chunked',
    'SMG-23',
    'HEAD with a coding',
    says(head('200 OK', 'Transfer-Encoding: chunked')),
    { method: 'HEAD', body: '' },
  ),
  cleaned('r-head-body', 'SMG-22', 'HEAD with a body', says(OK), { method: 'HEAD', body: '' }),
  cleaned(
    'r-head-stray',
    'SMG-22',
    'HEAD with an answer for a body',
    says(`${head('200 OK', 'Content-Length: 88')}${STRAY}`),
    {
      method: 'HEAD',
      body: '',
    },
  ),
  passes(299, 'Nobody Knows'),
  passes(418, 'Teapot'),
  passes(451, 'Unavailable For Legal Reasons'),
  passes(500, 'Internal Server Error'),
  passes(503, 'Service Unavailable'),
  passes(599, 'Nobody Knows'),
  cleaned('r-status-600', 'FWD-4', '600', `${head('600 Beyond', 'Content-Length: 5')}hello`),
  cleaned('r-status-999', 'FWD-4', '999', `${head('999 Beyond', 'Content-Length: 5')}hello`),
];
