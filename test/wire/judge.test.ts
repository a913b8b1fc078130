// The judges of the wire suite report every kind of fault.
import { describe, expect, it } from 'vitest';
import type { Answer } from './answers.ts';
import { readAnswers } from './answers.ts';
import { judgeRequest, type RequestSeen } from './judge/judge-request.ts';
import { judgeResponse } from './judge/judge-response.ts';
import { judgeWebsocket } from './judge/judge-websocket.ts';
import { type RecordedRequest, readRequest } from './recorded-request.ts';
import { ordinaryAnswer, SEEN } from './recorder.ts';
import { refused, served } from './requests/rows.ts';
import { relayed } from './responses/rows.ts';
import { chunks, spotAt } from './spot.ts';
import type { RequestCase, WebsocketCase } from './wire-case.ts';

const spot = spotAt({ tag: 't_case_a', host: 'api.example.com', prefix: '/wire' });

function recorded(text: string): RecordedRequest {
  const read = readRequest(text);
  if (read === undefined) throw new Error('no head');
  return { ...read.request, connection: 1 };
}

const answers = (text: string, closed = false): Answer[] => readAnswers(text, ['GET'], closed);
const own = recorded(spot.get());
const good = {
  answers: answers(ordinaryAnswer(own)),
  closed: false,
  upstream: [own],
  tunnelled: '',
  worksAfterwards: true,
};
const BAD = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbad';
const seen = (changed: Partial<RequestSeen>): RequestSeen => ({
  ...good,
  ownFields: ['host', 'via'],
  ...changed,
});
const get: RequestCase = served('case', 'SMG-1', 'a request', (w) => w.get());
const bad: RequestCase = refused('case', 'SMG-1', 'a bad request', (w) => w.get());
const refusal = { answers: answers(BAD, true), closed: true, upstream: [] };
const path: RequestCase = { ...get, readsPath: true };
const to = (target: string) => [recorded(spot.target(target))];

describe('the judge of requests', () => {
  it('passes a request that arrived and was answered', () => {
    expect(judgeRequest(get, spot, seen({}))).toMatchObject({
      verdict: 'PASS',
      outcome: 'forwarded',
      reasons: [],
    });
  });

  it('passes a refusal that ends the connection', () => {
    expect(judgeRequest(bad, spot, seen(refusal))).toMatchObject({
      verdict: 'PASS',
      outcome: 'refused',
      note: undefined,
    });
  });

  it('is lax if a bad request is forwarded in a valid form, and names the expected status', () => {
    const verdict = judgeRequest(bad, spot, seen({}));
    expect(verdict).toMatchObject({ verdict: 'LAX', outcome: 'forwarded', note: '200 for 400' });
  });

  it.each<[string, RequestCase, Partial<RequestSeen>]>([
    ['canary', get, { upstream: [own, recorded(spot.canary)] }],
    ['a 500', get, { answers: answers('HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n') }],
    [
      'tells of the inside',
      bad,
      { ...refusal, answers: answers(BAD.replace('bad', 'at x.js:1').replace('h: 3', 'h: 9'), true) },
    ],
    ['stayed open', bad, { ...refusal, closed: false }],
    ['got all of it', bad, { ...refusal, upstream: [own] }],
    ['no proper answer', get, { worksAfterwards: false }],
    ['looks whole', { ...get, truncated: true }, {}],
    ['2 whole requests', get, { upstream: [own, own] }],
    ['a 101', get, { answers: answers('HTTP/1.1 101 Switching Protocols\r\n\r\n') }],
    ['in a tunnel', get, { tunnelled: 'GET' }],
    [
      'both Content-Length and',
      get,
      {
        upstream: [recorded(spot.post(['Content-Length: 5', 'Transfer-Encoding: chunked'], chunks('hello')))],
      },
    ],
    [
      'several Content-Length',
      get,
      { upstream: [recorded(spot.post(['Content-Length: 5', 'Content-Length: 5'], 'hello'))] },
    ],
    ['2 Host lines', get, { upstream: [recorded(spot.get(['Host: b']))] }],
    ['a folded line', get, { upstream: [recorded(spot.get(['A: 1', ' 2']))] }],
    ['a bare CR or LF', get, { upstream: [recorded(spot.get(['A: 1\n2']))] }],
    ['a NUL', get, { upstream: [recorded(spot.get(['A: 1\0']))] }],
    ['not a token', get, { upstream: [recorded(spot.get(['A : 1']))] }],
    ['keep-alive forwarded', get, { upstream: [recorded(spot.get(['Keep-Alive: 1']))] }],
    [
      'a chunk size',
      get,
      { upstream: [recorded(spot.post(['Transfer-Encoding: chunked'], '+5\r\nhello\r\n'))] },
    ],
    [
      'a trailer named authorization',
      get,
      { upstream: [recorded(spot.post(['Transfer-Encoding: chunked'], '0\r\nAuthorization: x\r\n\r\n'))] },
    ],
    [
      'the client got both',
      get,
      {
        answers: answers(
          'HTTP/1.1 200 OK\r\nX-Upstream: suite\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n',
        ),
      },
    ],
    ['the body became', { ...get, body: 'hello' }, {}],
    ['x-a reached', { ...get, withheld: [['x-a']] }, { upstream: [recorded(spot.get(['X-A: 1']))] }],
    ['x-a was lost', { ...get, kept: [['x-a', /^1$/]] }, {}],
    ["the proxy's via", { ...get, keepsOwnFields: true }, {}],
    ['the query became', { ...get, query: 'a=b' }, {}],
    ['dot segments', path, { upstream: to(`${spot.path}/%2e%2e/x?t=${spot.tag}`) }],
    ['a NUL or a backslash', path, { upstream: to(`${spot.path}/a%5cb?t=${spot.tag}`) }],
    ['a broken escape', path, { upstream: to(`${spot.path}/%zz?t=${spot.tag}`) }],
    ['waiting', { ...get, lax: [] }, { answers: [] }],
    ['closed', get, { answers: [], closed: true }],
  ])('fails on %s', (reason, asked, changed) => {
    const verdict = judgeRequest(asked, spot, seen(changed));
    expect(verdict.verdict).toBe('FAIL');
    expect(verdict.reasons.join('\n')).toContain(reason);
  });
});

describe('the judge of responses', () => {
  const HEAD = 'HTTP/1.1 200 OK\r\nX-Upstream: suite\r\n';
  const next = 'HTTP/1.1 200 OK\r\nX-Upstream: suite\r\nContent-Length: 10\r\n\r\n/next/case';
  const asked = relayed('case', 'FWD-4', 'an answer', '', { body: 'hello', kept: [['x-a', /^1$/]] });
  const judge = (text: string, changed: object = {}, closed = false) =>
    judgeResponse(
      { ...asked, ...changed },
      { ...good, next: '/next/case', answers: answers(text, closed), closed },
    );
  const WHOLE = `${HEAD}X-A: 1\r\nContent-Length: 5\r\n\r\nhello`;

  it('passes a complete response and the next one', () => {
    expect(judge(WHOLE + next)).toMatchObject({ verdict: 'PASS', outcome: 'forwarded', reasons: [] });
  });

  it.each<[string, string, object, boolean]>([
    ['looks whole', WHOLE, { truncated: true }, false],
    ['the body became', WHOLE.replace('hello', 'other'), {}, false],
    ['lost, changed or repeated', WHOLE.replace('X-A', 'X-B'), {}, false],
    ['lost, changed or repeated', WHOLE.replace('X-A', 'X-A: 2\r\nX-A'), {}, false],
    ['x-a reached', WHOLE, { withheld: [['x-a']] }, false],
    ['got another response', `${WHOLE}${HEAD}Content-Length: 5\r\n\r\nstray`, {}, false],
    ['a NUL', WHOLE.replace('X-A: 1', 'X-A: \0'), {}, false],
    ['no status line', 'SSH-2.0\r\n\r\n', {}, true],
    ['content-length on a 204', `${HEAD.replace('200', '204')}Content-Length: 5\r\n\r\n`, {}, false],
    ['a 101', 'HTTP/1.1 101 Switching Protocols\r\n\r\n', {}, false],
    ['the client got proxy-connection', WHOLE.replace('X-A: 1', 'X-A: 1\r\nProxy-Connection: x'), {}, false],
    ['waiting', WHOLE.slice(0, -2), {}, false],
    ['answered', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', {}, false],
  ])('fails on %s', (reason, text, changed, closed) => {
    const verdict = judge(text, changed, closed);
    expect(verdict.verdict).toBe('FAIL');
    expect(verdict.reasons.join('\n')).toContain(reason);
  });

  it('FWD-16: counts the attempts at the upstream', () => {
    const seenTwice = { ...good, next: '/next/case', answers: answers(WHOLE), upstream: [own, own] };
    expect(judgeResponse(asked, seenTwice).reasons).toContain('2 tries at the upstream');
  });
});

describe('the judge of WebSockets', () => {
  const asked: WebsocketCase = { id: 'case', rules: ['WS-3'], title: 'a handshake', pass: ['switched'] };
  const upgrade = recorded(spot.get(['Connection: Upgrade', 'Upgrade: websocket']));
  const SWITCHED = `HTTP/1.1 101 Switching Protocols\r\nX-Upstream: suite\r\n\r\n${SEEN}`;
  const judge = (text: string, changed: object = {}, more: Partial<WebsocketCase> = {}) =>
    judgeWebsocket(
      { ...asked, ...more },
      { ...good, upstream: [upgrade], answers: answers(text, true), ...changed },
    );

  it('passes a tunnel that carries bytes', () => {
    expect(judge(SWITCHED, { tunnelled: 'x' })).toMatchObject({
      verdict: 'PASS',
      outcome: 'switched',
      reasons: [],
    });
  });

  it.each<[string, string, object, Partial<WebsocketCase>]>([
    ['carries nothing', SWITCHED.slice(0, -SEEN.length), {}, {}],
    ['without an upgrade', SWITCHED, { upstream: [own] }, {}],
    ['a tunnel without a 101', BAD, { tunnelled: 'x' }, {}],
    ['as a request', BAD, { upstream: [upgrade, recorded(spot.canary)] }, {}],
    ['has no x-b', SWITCHED, {}, { answered: [['x-b']] }],
    ['x-a was lost', SWITCHED, {}, { kept: [['x-a']] }],
    ['upgrade reached', SWITCHED, {}, { withheld: [['upgrade']] }],
    ['not refused', SWITCHED, { tunnelled: 'x' }, { pass: ['refused'] }],
    ['stayed open', BAD, { closed: false }, {}],
  ])('fails on %s', (reason, text, changed, more) => {
    const verdict = judge(text, changed, more);
    expect(verdict.verdict).toBe('FAIL');
    expect(verdict.reasons.join('\n')).toContain(reason);
  });
});
