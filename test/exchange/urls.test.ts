// URLs made from client input: credentials are found, successors and redirects stay on the public host.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { credentialInQuery } from '../../gateway/exchange/steps/authenticate.ts';
import { type Resource, redirectUrl, successorOf } from '../../gateway/exchange/successor-url.ts';
import type { VersionRules } from '../../gateway/plan/plan.ts';
import { api, NOW, plan, upstream, version } from '../support/exchange-samples.ts';

const AT = { now: NOW, overrides: [] };
const forbidden = new Set(['access_token']);

describe('credentialInQuery', () => {
  it.each(['?access_token=x', '?a=1&access_token', '?%61ccess_token=x', '?a=%zz&access%5Ftoken=x'])(
    'AUTH-1: finds the credential in %s',
    (search) => {
      expect(credentialInQuery(search, forbidden)).toBe('access_token');
    },
  );

  it.each(['', '?', '?access=token', '?x=access_token', '?Access_Token=x'])(
    'AUTH-1: finds no credential in %s',
    (search) => {
      expect(credentialInQuery(search, forbidden)).toBeUndefined();
    },
  );
});

const resource = (tail: string, search = ''): Resource => ({
  method: 'GET',
  tail,
  captures: [],
  search,
  evidence: { claims: [], preferences: [] },
});

/** A version that ends at `sunset`. */
const life = (label: string, sunset: number, changes: Partial<VersionRules> = {}): VersionRules => {
  const schedule = { ...version().schedule, successor: undefined, sunset, ...changes.schedule };
  const phases = version().phasesOf(schedule);
  return version({ label, successorPath: undefined, redirects: [], ...changes, schedule, phases });
};

describe('URLs in another version', () => {
  it('RET-2: the redirect keeps the encoded path and the query bytes', () => {
    expect(redirectUrl(plan(), api(), version(), AT, resource('/a%20b', '?x=1&x=2&y=%2F'))).toBe(
      'https://api.example.com/api/v2/orders/a%20b?x=1&x=2&y=%2F',
    );
  });

  it('LNK-2: the successor link keeps an encoded slash and drops the query', () => {
    expect(successorOf(plan(), api(), version(), AT, resource('/a%2Fb'))).toEqual({
      replacement: 'https://api.example.com/api/v2/orders/a%2Fb',
      successor: undefined,
    });
  });

  it('RET-4: a redirect leads to the first version that is still served, at any instant', () => {
    const chained = version({
      successorPath: undefined,
      redirects: [
        { label: 'v2', path: '/api/v2/orders', tail: undefined },
        { label: 'v3', path: '/api/v3/orders', tail: undefined },
      ],
    });
    const all = api([chained, life('v2', NOW + 1), life('v3', NOW + 2)]);
    const urls = [NOW, NOW + 1, NOW + 2].map((now) =>
      redirectUrl(plan(), all, chained, { now, overrides: [] }, resource('/7')),
    );
    expect(urls).toEqual([
      'https://api.example.com/api/v2/orders/7',
      'https://api.example.com/api/v3/orders/7',
      undefined,
    ]);
    const leadsTo = (now: number) =>
      successorOf(plan(), all, chained, { now, overrides: [] }, resource('/7'));
    expect(leadsTo(NOW + 1)).toEqual({ replacement: urls[1], successor: undefined });
    expect(leadsTo(NOW + 2)).toEqual({ replacement: undefined, successor: undefined });
  });

  it('RET-8, RET-4: at a shared URL the first served version is named, until all have ended', () => {
    const place = '/api/orders';
    const chained = version({
      place,
      successorPath: undefined,
      redirects: [
        { label: 'v2', path: place, tail: undefined },
        { label: 'v3', path: place, tail: undefined },
      ],
    });
    const all = api([chained, life('v2', NOW + 1), life('v3', NOW + 2)]);
    const named = [NOW, NOW + 1, NOW + 2].map((now) =>
      successorOf(plan(), all, chained, { now, overrides: [] }, resource('/7')),
    );
    expect(named.map(({ successor }) => successor)).toEqual(['v2', 'v3', undefined]);
    // RET-5: a redirect would lead back to the requested URL.
    expect(redirectUrl(plan(), all, chained, AT, resource('/7'))).toBeUndefined();
    expect(named.map(({ replacement }) => replacement)).toEqual([undefined, undefined, undefined]);
  });

  it('LNK-2: an ended successor is replaced by its own successor in the same second', () => {
    const followed = (label: string, successor: string, sunset: number): VersionRules =>
      life(label, sunset, {
        schedule: { ...version().schedule, successor, sunset },
        successorPath: `/api/${successor}/orders`,
      });
    const all = [followed('v1', 'v2', NOW - 1), followed('v2', 'v3', NOW + 1), followed('v3', 'v1', NOW + 2)];
    const leadsTo = (now: number, first = all[0] ?? version()) =>
      successorOf(plan(), api(all), first, { now, overrides: [] }, resource('/7')).replacement;
    expect([NOW, NOW + 1, NOW + 2].map((now) => leadsTo(now))).toEqual([
      'https://api.example.com/api/v2/orders/7',
      'https://api.example.com/api/v3/orders/7',
      // All versions have ended and lead back to each other.
      undefined,
    ]);
    const renamed = { ...followed('v1', 'v2', NOW - 1), successorTail: ['/new'] };
    expect(leadsTo(NOW + 1, renamed)).toBe('https://api.example.com/api/v3/orders/new');
  });

  it('LNK-2: a successor is named from its release on', () => {
    const schedule = { ...version().schedule, released: NOW + 1, deprecated: undefined, sunset: undefined };
    const next = version({ label: 'v2', schedule, phases: version().phasesOf(schedule) });
    const named = [NOW, NOW + 1].map((now) =>
      successorOf(plan(), api([version(), next]), version(), { now, overrides: [] }, resource('/7')),
    );
    expect(named.map(({ replacement }) => replacement)).toEqual([
      undefined,
      'https://api.example.com/api/v2/orders/7',
    ]);
  });

  it('RET-8: another path at a shared URL also needs the version name', () => {
    const place = '/api/orders';
    const moved = version({ place, successorPath: place, successorTail: ['/new'] });
    expect(successorOf(plan(), api(), moved, AT, resource('/old'))).toEqual({
      replacement: 'https://api.example.com/api/orders/new',
      successor: 'v2',
    });
  });

  it('RET-4: a version that a pause holds after its sunset remains a target during the pause', () => {
    const ends = NOW + 1;
    const held = life('v2', ends, { upstream });
    const chained = version({
      redirects: [
        { label: 'v2', path: '/api/v2/orders', tail: undefined },
        { label: 'v3', path: '/api/v3/orders', tail: undefined },
      ],
    });
    const until = NOW + 10;
    const pause = {
      kind: 'pause',
      id: 'p1',
      api: 'orders',
      label: 'v2',
      author: 'alice',
      reason: 'x',
    } as const;
    const overrides = [{ ...pause, from: NOW, until }];
    const to = (now: number) =>
      redirectUrl(plan(), api([chained, held]), chained, { now, overrides }, resource('/7'));
    expect([ends - 1, ends, until - 1, until].map(to)).toEqual([
      'https://api.example.com/api/v2/orders/7',
      'https://api.example.com/api/v2/orders/7',
      'https://api.example.com/api/v2/orders/7',
      'https://api.example.com/api/v3/orders/7',
    ]);
  });

  it('RET-3, LNK-3: for any tail, the authority is the public one and delimiters are escaped', () => {
    const tail = fc.string({ unit: 'binary-ascii' }).map((text) => `/${text}`);
    fc.assert(
      fc.property(tail, tail, (path, query) => {
        const url = redirectUrl(plan(), api(), version(), AT, resource(path, `?${query}`)) ?? '';
        expect(new URL(url).host).toBe('api.example.com');
        expect(url).not.toMatch(/[<>"\\\s]/);
      }),
    );
  });
});
