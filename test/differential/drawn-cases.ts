// Draws cases: usual, unusual and hostile requests and responses.
import fc from 'fast-check';
import { fieldLines, mutated } from '../support/mutated-bytes.ts';
import { CLIENT_TRACE } from './messages.ts';
import type { Case } from './plane-side.ts';

const HELLO = 'Content-Length: 5\r\n\r\nhello';
const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nX-T: 1\r\n\r\n';

/** Framing, empty line and body. */
const bodies = fc.constantFrom(
  ...['\r\n', '\r\n', HELLO, CHUNKED, 'Connection: close\r\n\r\n'],
  ...['Expect: 100-continue\r\nContent-Length: 5\r\n\r\nhello', 'Content-Length: 0\r\n\r\n'],
  ...['Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n'],
);
const METHODS = ['GET', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'] as const;

/** Requests to the API without limits. */
const echoed = fc
  .record({
    method: fc.constantFrom(...METHODS),
    target: fc.constantFrom('', '/a%2Fb;c', '?x=1&x=%2f', '/%7Euser', '?', '/a//b', '/a/%2e%2e/b'),
    lines: fieldLines,
    body: bodies,
  })
  .map(({ method, target, lines, body }) =>
    [`${method} /echo${target} HTTP/1.1`, 'Host: api.example.com', ...lines, body].join('\r\n'),
  );

/** Client addresses. The API limits each of them. */
export const ADDRESSES = 30;
const countedHead = (method: string, address: number): readonly string[] => [
  `${method} /counted/a HTTP/1.1`,
  'Host: api.example.com',
  `X-Forwarded-For: 192.0.2.${address}`,
];
export const requestFrom = (address: number): string => [...countedHead('GET', address), '\r\n'].join('\r\n');

const counted = fc
  .record({ method: fc.constantFrom(...METHODS), address: fc.nat(ADDRESSES - 1), body: bodies })
  .map(({ method, address, body }) => [...countedHead(method, address), body].join('\r\n'));

export interface DrawnTokens {
  /** Valid tokens, and invalid ones whose result is cached. */
  readonly known: readonly string[];
  /** Signed with an unknown key. Never cached. */
  readonly unknown: string;
}

/** A request to the API with versions, scopes and a limit per consumer. */
export const requestWith = (token: string): string =>
  ['GET /api/v2/orders HTTP/1.1', 'Host: api.example.com', `Authorization: Bearer ${token}`, '\r\n'].join(
    '\r\n',
  );

const versioned = ({ known, unknown }: DrawnTokens) =>
  fc
    .record({
      method: fc.constantFrom('GET', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'),
      path: fc.constantFrom(
        ...['/api/v0/orders', '/api/v1/orders', '/api/v1/orders/7', '/api/v2/orders', '/api/orders'],
        ...['/api/v3/orders', '/api/v1/orders/%2e%2e/x', '/api/nowhere', '/.well-known/api-catalog'],
      ),
      token: fc.option(fc.constantFrom(...known, unknown), { freq: 4 }),
      lines: fc.subarray([
        ...['API-Version: v2', 'Origin: https://app.example.com', 'Origin: https://evil.example'],
        ...['Access-Control-Request-Method: GET', 'X_Odd: 1', 'X-Many: 1', 'X-Many: 2', 'Accept: */*'],
        ...[`traceparent: 00-${CLIENT_TRACE}-00f067aa0ba902b7-01`, 'Cache-Control: no-cache'],
        ...['User-Agent: acme/1.0', 'X-Request-Id: 0123456789abcdef'],
      ]),
      body: fc.constantFrom(
        ...['\r\n', '\r\n', HELLO, CHUNKED],
        'Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello',
      ),
    })
    .map(({ method, path, token, lines, body }) =>
      [
        `${method} ${path}?x=1 HTTP/1.1`,
        'Host: api.example.com',
        ...(token === null ? [] : [`Authorization: Bearer ${token}`]),
        ...lines,
        // Such a token is refused while the body arrives. How much has arrived depends on Node's parser.
        token === unknown ? '\r\n' : body,
      ].join('\r\n'),
    );

/** Octets after a request that are no request, or the start of one. */
const behind = fc.constantFrom(
  ...['\0\0\r\n\r\n', 'GET /echo/canary HTTP/1.1\r\n', 'GE', '\r\n', '\r\n\r\n', 'hello', 'SSH-2.0-x\r\n'],
  ...[
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'get /echo HTTP/1.1\r\n\r\n',
    '0\r\n\r\n',
    'GET  /echo HTTP/1.1\r\n\r\n',
  ],
);

const usualAnswer = fc
  .record({
    status: fc.constantFrom(
      ...['200 OK', '200 OK', '201 Created', '204 No Content', '205 Reset', '304 Not Modified'],
      ...['404 Nope', '500 Oops', '503 Busy'],
    ),
    interim: fc.constantFrom('', '', '', 'HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\n'),
    lines: fieldLines,
    body: fc.constantFrom(
      ...[HELLO, 'Content-Length: 0\r\n\r\n', 'Connection: close\r\nContent-Length: 2\r\n\r\nok'],
      'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3;x\r\nyou\r\n0\r\nX-T: 1\r\n\r\n',
    ),
  })
  .map(({ status, interim, lines, body }) => [`${interim}HTTP/1.1 ${status}`, ...lines, body].join('\r\n'));

const anyAnswer = fc.oneof(
  { weight: 3, arbitrary: fc.record({ answer: usualAnswer, upstreamEnds: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ answer: mutated(usualAnswer, 2), upstreamEnds: fc.constant(true) }) },
);

/** A few header sections, repeated as they are or with one octet changed, for the cache of field sections. */
const similar = fc
  .record({
    request: fc.constantFrom(
      ...['1', '2', 'a', 'A'].flatMap((value) => [
        `GET /echo/${value} HTTP/1.1\r\nHost: api.example.com\r\nX-A: ${value}\r\n\r\n`,
        `GET /echo HTTP/1.1\r\nHost: api.example.com\r\nX-${value}: 1\r\nAccept: */*\r\n\r\n`,
        `POST /echo HTTP/1.1\r\nHost: api.example.com\r\nX-A: ${value}\r\nContent-Length: 5\r\n\r\nhello`,
      ]),
    ),
    at: fc.nat(),
    octet: fc.option(fc.nat(255), { freq: 3 }),
  })
  .map(({ request, at, octet }) => {
    const place = at % request.length;
    if (octet === null) return request;
    return request.slice(0, place) + String.fromCharCode(octet) + request.slice(place + 1);
  });

/** An offset after the first head. */
function withinBody(request: string, cut: number): number {
  const end = request.indexOf('\r\n\r\n') + 4;
  return end + (cut % (request.length + 1 - end));
}

export function drawnCase(tokens: DrawnTokens): fc.Arbitrary<Case> {
  const whole = fc.oneof(
    { weight: 3, arbitrary: echoed },
    { weight: 1, arbitrary: counted },
    { weight: 2, arbitrary: versioned(tokens) },
  );
  const open = fc.oneof({ weight: 4, arbitrary: echoed }, { weight: 1, arbitrary: counted });
  // Without HEAD, whose response has no body: the reader would need to know which response that is.
  const pipelined = fc.array(
    fc.oneof(
      echoed.filter((text) => !text.startsWith('HEAD')),
      similar,
    ),
    { minLength: 2, maxLength: 4 },
  );
  const sent = fc.oneof(
    { weight: 4, arbitrary: whole.map((request) => ({ request, answers: 1 })) },
    { weight: 4, arbitrary: mutated(open, 2).map((request) => ({ request, answers: undefined })) },
    { weight: 2, arbitrary: similar.map((request) => ({ request, answers: undefined })) },
    { weight: 1, arbitrary: pipelined.map((all) => ({ request: all.join(''), answers: undefined })) },
    {
      weight: 1,
      arbitrary: fc.tuple(echoed, behind).map((both) => ({ request: both.join(''), answers: undefined })),
    },
  );
  return fc
    .record({
      sent,
      given: anyAnswer,
      cut: fc.nat(),
      answerCut: fc.nat(),
      isEarly: fc.nat(7).map((of) => of === 0),
      leaves: fc.constantFrom<Case['leaves']>('keep', 'keep', 'end', 'destroy', 'reset'),
    })
    .map(({ sent: request, given, ...others }) => {
      // The rest of an incomplete request would belong to the next one.
      const leaves = others.leaves === 'keep' && request.answers === undefined ? 'end' : others.leaves;
      const one: Case = { ...request, ...given, ...others, leaves };
      return one.isEarly ? { ...one, cut: withinBody(one.request, one.cut) } : one;
    });
}
