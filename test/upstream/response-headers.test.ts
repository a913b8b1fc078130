// Response headers of an upstream with the changes of the policy.
import { describe, expect, it } from 'vitest';
import type { AnswerHeaders } from '../../gateway/exchange/answer-headers.ts';
import type { ForwardOrder } from '../../gateway/exchange/directive.ts';
import { createExchange } from '../../gateway/exchange/exchange.ts';
import { answerFieldsOf } from '../../gateway/plan/upstreams/answer-fields.ts';
import type { Inbound } from '../../gateway/plane/port.ts';
import { cleanAnswer, finishHead } from '../../gateway/upstream/response-headers.ts';
import { deprecatedFacts, NOW, plan, upstream as sample, view } from '../support/exchange-samples.ts';
import { quietPorts } from '../support/quiet-ports.ts';

const clientPlace = { view: view(), tail: '/7', query: undefined, public: 'https://api.example.com' };

/** 1,000 seconds before the end of the phase. Without the fields that every response has. */
function given(
  answer: AnswerHeaders,
  response: { set?: Record<string, string>; remove?: readonly string[] } = {},
): AnswerHeaders {
  const nothing = { set: {}, remove: [] };
  const headerRules = { request: nothing, response: { ...nothing, ...response } };
  const upstream = { ...sample, answerFields: answerFieldsOf(headerRules) };
  const facts = deprecatedFacts({ quotas: undefined });
  const { phase } = facts.decision;
  if (phase === undefined) throw new Error('the sample has a phase');
  facts.decision = {
    ...facts.decision,
    phase: { ...phase, ...{ replace: [], links: '', linksSuccessor: false, warning: undefined } },
  };
  const now = phase.until - 1_000_000;
  const exchange = createExchange(quietPorts(plan, () => now));
  const lines = cleanAnswer(200, answer, upstream);
  facts.start = { ...facts.start, now };
  const inbound = { view: view(), forwardedHost: 'api.example.com' } as Inbound;
  finishHead(exchange, 200, lines, {
    ...{ inbound, facts },
    order: { headerRules, upstream, target: '/orders/7', clientPlace } as unknown as ForwardOrder,
  });
  const { via, vary, 'x-request-id': id, ...others } = lines.record();
  expect([via, vary, id]).not.toContain(undefined);
  return others;
}

describe('a response header in the policy', () => {
  it('is removed at any position, and set at its position or at the end', () => {
    const answer = { 'x-a': '1', etag: '"a"', 'x-b': '2', 'cache-control': 'no-store' };
    const rules = { remove: ['x-b', 'etag', 'x-none'], set: { 'x-a': '3' } };
    expect(Object.entries(given(answer, rules))).toEqual([
      ['x-a', '3'],
      ['cache-control', 'no-store'],
    ]);
  });

  it.each([
    ['location', '/orders/8', '/api/v1/orders/8'],
    ['content-location', '/orders/8', '/api/v1/orders/8'],
    ['refresh', '5; url=/orders/8', '5; url=/api/v1/orders/8'],
    ['link', '</orders/8>; rel="next"', '</api/v1/orders/8>; rel="next"'],
    ['set-cookie', ['a=b; Path=/orders'], ['a=b; Path=/api/v1/orders']],
  ])('does not prevent the mapping of the address in %s', (name, theirs, ours) => {
    expect(given({ [name]: theirs })).toMatchObject({ [name]: ours });
  });

  it.each([
    ['cache-control', 'max-age=86400', 'max-age=1000'],
    ['cdn-cache-control', 'max-age=86400', 'max-age=1000'],
    ['expires', new Date(NOW * 2).toUTCString(), 'Thu, 15 Apr 2027 00:00:00 GMT'],
  ])('CACHE-6: %s is limited in the same way for the policy and the upstream', (...row) => {
    const [name, value, clamped] = row;
    expect(given({ [name]: value })).toMatchObject({ [name]: clamped });
    expect(given({}, { set: { [name]: value } })).toMatchObject({ [name]: clamped });
  });
});
