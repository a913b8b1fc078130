// Admin routes match raw paths, in which an account may have an encoded slash, and only some pages may write.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isFromOwnPage } from '../../gateway/admin/access.ts';
import { jsonAnswer } from '../../gateway/admin/answers.ts';
import { type AdminRoute, matchRoute } from '../../gateway/admin/route.ts';
import { anyCharacter } from '../support/any-text.ts';

const show = () => jsonAnswer(200, {});
const perform = async () => ({ answer: show(), audit: {} });
const routes: readonly AdminRoute[] = [
  { method: 'GET', path: '/metrics', open: true, show },
  { method: 'GET', path: '/-/pins/{api}/{account}', show },
  { method: 'PUT', path: '/-/pins/{api}/{account}', action: 'upgrade_pin', perform },
  { method: 'POST', path: '/-/pins/{api}/{account}/roll-back', action: 'roll_back_pin', perform },
];

describe('a path', () => {
  it.each([
    ['GET', '/metrics', '/metrics'],
    ['HEAD', '/metrics', '/metrics'],
    ['GET', '/metrics?x=1', '/metrics'],
    ['GET', '/-/pins/payments/acme', '/-/pins/{api}/{account}'],
    ['PUT', '/-/pins/payments/acme', '/-/pins/{api}/{account}'],
    ['GET', '/-/pins/payments/roll-back', '/-/pins/{api}/{account}'],
    ['POST', '/-/pins/payments/acme/roll-back', '/-/pins/{api}/{account}/roll-back'],
  ])('%s %s is found at %s', (method, url, path) => {
    expect(matchRoute(routes, method, url)).toMatchObject({ kind: 'found', route: { path } });
  });

  it.each([
    '/',
    '',
    '//metrics',
    '/metrics/',
    '/Metrics',
    '/-/pins/payments',
    '/-/pins//acme',
    '/-/pins/payments/',
    '/-/pins/a/b/c',
    '*',
    'http://127.0.0.1/metrics',
  ])('%j is unknown', (url) => expect(matchRoute(routes, 'GET', url)).toEqual({ kind: 'unknown' }));

  it('FWD-15: has its own methods, and HEAD wherever it has GET', () => {
    expect(matchRoute(routes, 'DELETE', '/-/pins/a/b')).toEqual({ kind: 'method', allow: 'GET, HEAD, PUT' });
    expect(matchRoute(routes, 'HEAD', '/-/pins/a/b/roll-back')).toEqual({ kind: 'method', allow: 'POST' });
  });

  it.each(['%', '%zz', '%ff', '%c3%28', '%ed%a0%80'])('with the segment %s is malformed', (segment) => {
    expect(matchRoute(routes, 'GET', `/-/pins/payments/${segment}`)).toEqual({ kind: 'malformed' });
  });

  it('has decoded parameters, for any characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, minLength: 1 }), (account) => {
        fc.pre(account.isWellFormed());
        const match = matchRoute(routes, 'GET', `/-/pins/payments/${encodeURIComponent(account)}`);
        expect(match).toMatchObject({ kind: 'found' });
        if (match.kind === 'found')
          expect([...match.parameters]).toEqual([
            ['api', 'payments'],
            ['account', account],
          ]);
      }),
    );
  });
});

describe('a write', () => {
  const host = '127.0.0.1:9901';

  it.each([
    ['a command line', {}, true],
    ["the listener's own page", { origin: `http://${host}`, 'sec-fetch-site': 'same-origin' }, true],
    ['the address bar', { 'sec-fetch-site': 'none' }, true],
    ['another port', { origin: 'http://127.0.0.1:9902' }, false],
    ['another name of this machine', { origin: 'http://localhost:9901' }, false],
    ['the same host over TLS', { origin: `https://${host}` }, false],
    ['the origin null', { origin: 'null' }, false],
    ['an origin with the same prefix', { origin: `http://${host}.evil.example` }, false],
    ['the same site', { 'sec-fetch-site': 'same-site' }, false],
    ['another site', { 'sec-fetch-site': 'cross-site' }, false],
    ['two values of Sec-Fetch-Site', { 'sec-fetch-site': ['same-origin', 'cross-site'] }, false],
  ])('from %s, with %o, is allowed: %s', (_name, fields, own) => {
    expect(isFromOwnPage({ host, ...fields })).toBe(own);
  });
});
