// What every answer carries: lifecycle lines, quota, Vary, request id, HSTS.
import { describe, expect, it } from 'vitest';
import type { AnswerHeaders } from '../../gateway/exchange/answer-headers.ts';
import { decorate } from '../../gateway/exchange/decorate.ts';
import type { ExchangeFacts } from '../../gateway/exchange/facts.ts';
import { deprecatedFacts, view } from '../support/exchange-samples.ts';

const HSTS = 'max-age=31536000';

function decorated(
  headers: AnswerHeaders,
  facts = deprecatedFacts(),
  scheme: 'https' | 'http' = 'https',
): AnswerHeaders {
  decorate(headers, facts, view({ scheme }), HSTS);
  return headers;
}

describe('decorate', () => {
  it('DEP-2: one field line even when the upstream sends its own Deprecation', () => {
    const headers = decorated({ deprecation: ['@1', '@2'], sunset: 'Thu, 01 Jan 1970 00:00:00 GMT' });
    expect(headers.deprecation).toBe('@1768435200');
    expect(headers.sunset).toBe('Thu, 15 Apr 2027 00:00:00 GMT');
  });

  it("LNK-1: the upstream's links survive in front of ours", () => {
    const headers = decorated({ link: '</orders?page=2>; rel="next"' });
    expect(headers.link).toMatch(/^<\/orders\?page=2>; rel="next", </);
    expect(headers.link).toContain('<https://api.example.com/api/v2/orders/7>; rel="successor-version"');
  });

  it("WARN-4: a warning is appended to the upstream's", () => {
    const headers = decorated({ warning: '299 - "theirs"' });
    expect(headers.warning).toMatch(/^299 - "theirs", 299 - "/);
  });

  it('CACHE-2: the version header joins Vary once, whatever its spelling', () => {
    expect(decorated({ vary: 'Accept-Encoding, api-version' }).vary).toBe('Accept-Encoding, api-version');
    expect(decorated({ vary: ['Accept', 'Origin'] }).vary).toBe('Accept, Origin, API-Version');
    expect(decorated({}).vary).toBe('API-Version');
  });

  it('CACHE-2: a star from the upstream stays a star', () => {
    expect(decorated({ vary: '*' }).vary).toBe('*');
  });

  it('CACHE-3: an answer for one account alone is not kept by nginx either, whatever the upstream told it', () => {
    const facts = { ...deprecatedFacts(), perAccount: true };
    const headers = decorated({ 'x-accel-expires': '3600', 'cache-control': 'public' }, facts);
    expect(headers).toMatchObject({ 'x-accel-expires': '0', 'cache-control': 'private' });
    expect(decorated({}, facts)).not.toHaveProperty('x-accel-expires');
  });

  it.each<[string, (facts: ExchangeFacts) => Partial<ExchangeFacts>, boolean]>([
    ['is for everybody', () => ({}), false],
    ['depends on the pin of the account', () => ({ perAccount: true }), true],
    ['is spared to some', () => ({ sparesSome: true }), true],
    ['tells a consumer its own last day', ({ phase }) => ({ phase: phase && { ...phase, sunset: 1 } }), true],
  ])('CACHE-3: whether an answer that %s is private', (_what, changes, isPrivate) => {
    const facts = deprecatedFacts();
    const headers = decorated({ 'cache-control': 'max-age=60' }, { ...facts, ...changes(facts) });
    expect(headers['cache-control']).toBe(isPrivate ? 'private, max-age=60' : 'max-age=60');
  });

  it("RL-2: the upstream's own X-RateLimit lines never mix with ours", () => {
    const headers = decorated({ 'x-ratelimit-limit': '9999', 'x-ratelimit-remaining': '9998' });
    expect(headers['x-ratelimit-limit']).toBe('60');
    expect(headers['x-ratelimit-remaining']).toBe('59');
  });

  it('RL-13: no numbers, not even invented ones, while the store is away', () => {
    const facts = deprecatedFacts();
    facts.quota = {
      kind: 'degraded',
      limit: { name: 'default', units: 1, windowMs: 1000, burst: 1 },
      allowed: true,
      retryAfterMs: 0,
    };
    const headers = decorated({ 'x-ratelimit-limit': '9999', 'x-ratelimit-remaining': '9998' }, facts);
    expect(Object.keys(headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
  });

  it("TLS-6: HSTS only on TLS answers, and never the upstream's copy", () => {
    expect(decorated({ 'strict-transport-security': 'max-age=1' })['strict-transport-security']).toBe(HSTS);
    const plain = decorated({ 'strict-transport-security': 'max-age=1' }, deprecatedFacts(), 'http');
    expect(plain).not.toHaveProperty('strict-transport-security');
  });
});
