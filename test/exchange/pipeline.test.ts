// The order of judgement: which refusal wins if several apply.
import { describe, expect, it } from 'vitest';
import type { Directive } from '../../gateway/exchange/directive.ts';
import { createExchange, type Exchange } from '../../gateway/exchange/exchange.ts';
import type { RequestView } from '../../gateway/exchange/request-view.ts';
import type { ApiPlan, GatewayPlan, VersionRules } from '../../gateway/plan/plan.ts';
import type { AuthenticationResult } from '../../gateway/policy/authentication/access.ts';
import { tokenAuthenticator } from '../../gateway/policy/authentication/token-authenticator.ts';
import type { MaybePromise } from '../../gateway/policy/contract.ts';
import {
  type BrownoutCalendar,
  createBrownoutCalendar,
} from '../../gateway/policy/lifecycle/brownout-calendar.ts';
import { createPhases } from '../../gateway/policy/lifecycle/phases.ts';
import type { Quota, RateLimiter } from '../../gateway/policy/rate-limit/limit.ts';
import {
  ACCESS,
  api,
  LIMIT,
  LIMITS,
  NOW,
  plan,
  RULE,
  upstream,
  type ViewParts,
  version,
  view,
} from '../support/exchange-samples.ts';
import { quietPorts } from '../support/quiet-ports.ts';

const EXHAUSTED = {
  kind: 'counted',
  rule: RULE,
  limit: LIMIT,
  allowed: false,
  remaining: 0,
  retryAfterMs: 400,
  resetMs: 400,
} as const satisfies Quota;
const ACME: AuthenticationResult = {
  kind: 'consumer',
  consumer: { id: 'acme', mayLabelMetrics: true, via: 'token', scopes: new Set(['orders:read']), claims: {} },
};

/** A version that was retired yesterday and is also protected, limited and guarded. */
function retiredVersion(): VersionRules {
  const base = version();
  const schedule = { ...base.schedule, sunset: NOW - 86_400_000 };
  return {
    ...base,
    schedule,
    access: ACCESS,
    limits: LIMITS,
    phases: createPhases(schedule, { label: 'v1', form: 'true', warning: true }),
  };
}

/** Refuses all callers, or a share of them, for an hour around now. */
function brownout(share?: number): BrownoutCalendar {
  const [from, until] = [NOW - 1_800_000, NOW + 1_800_000];
  return createBrownoutCalendar([
    { from, until, rule: 0, announced: 0, status: 410, share, message: undefined },
  ]);
}

function brownedOutVersion(share?: number): VersionRules {
  return version({ access: ACCESS, limits: LIMITS, upstream, brownouts: brownout(share) });
}

interface Situation {
  readonly rules?: VersionRules;
  readonly cors?: ApiPlan['cors'];
  readonly request?: ViewParts;
  readonly guarded?: boolean;
  readonly token?: MaybePromise<AuthenticationResult>;
  readonly quota?: Quota;
  /** Replaces `quota`. */
  readonly take?: RateLimiter['take'];
  readonly hstsSeconds?: number | undefined;
  /** Versions besides the requested one. */
  readonly others?: readonly VersionRules[];
}

function exchangeIn(situation: Situation): Exchange {
  const rules = situation.rules ?? version({ access: ACCESS, limits: LIMITS, upstream });
  const owner = { ...api([rules, ...(situation.others ?? [])]), cors: situation.cors };
  const current: GatewayPlan = { ...plan([owner]), guard: situation.guarded ? LIMIT : undefined };
  return createExchange({
    ...quietPorts(
      () => current,
      () => NOW,
    ),
    guard: () => EXHAUSTED,
    limiter: { take: situation.take ?? (() => [situation.quota ?? EXHAUSTED]) },
    authenticators: new Map([
      ['main', tokenAuthenticator(() => NOW, { claims: () => true, verify: () => situation.token ?? ACME })],
    ]),
    hstsSeconds: situation.hstsSeconds,
  });
}

const requestOf = ({ request }: Situation): RequestView =>
  view({ headers: { authorization: 'Bearer a.b.c' }, ...request });

function decideIn(situation: Situation): MaybePromise<Directive> {
  const exchange = exchangeIn(situation);
  return exchange.decide(requestOf(situation), exchange.begin('b6f6b7f2-7a39-4d4d-9f68-54b7a5f1a001'));
}

const judge = async (situation: Situation): Promise<Directive> => decideIn(situation);

function reasonOf(directive: Directive): string {
  return directive.kind === 'refuse' ? directive.refusal.reason : 'forwarded';
}

describe('decide', () => {
  it.each<[string, Situation, string]>([
    ['the guard comes before any lookup', { guarded: true, request: { path: '/nowhere' } }, 'guard_limited'],
    [
      'AUTH-1: a credential in the URL is refused on any path',
      { request: { path: '/nowhere', search: '?access_token=x' } },
      'credentials_in_url',
    ],
    [
      'AUTH-1: a credential in the URL is refused on a connection for another host',
      { request: { misdirected: true, search: '?access_token=x' } },
      'credentials_in_url',
    ],
    ['TLS-4: a misdirected connection serves no API', { request: { misdirected: true } }, 'misdirected'],
    [
      'TLS-4: a misdirected connection serves no published page',
      { request: { misdirected: true, path: '/.well-known/api-catalog' } },
      'misdirected',
    ],
    [
      'WS-4: a foreign origin opens no WebSocket to any version',
      {
        cors: { origins: new Set(['https://app.example.com']) },
        request: { webSocket: true, path: '/api/v9/orders', headers: { origin: 'https://evil.example' } },
      },
      'origin_not_allowed',
    ],
    [
      'FWD-10: a body that is too large is refused before the limit',
      { request: { headers: { authorization: 'Bearer a.b.c', 'content-length': '1000001' } } },
      'body_too_large',
    ],
    [
      'FWD-10: a missing scope comes before the size',
      {
        request: {
          method: 'POST',
          headers: { authorization: 'Bearer a.b.c', 'content-length': '1000001' },
        },
      },
      'scope_insufficient',
    ],
    ['a known host without a route is not found', { request: { path: '/nowhere' } }, 'route_unknown'],
    ['TLS-4: an unknown host is misdirected', { request: { host: 'other.example' } }, 'host_unknown'],
    [
      'VER-3: an ambiguous version is found before authentication',
      { request: { headers: { 'api-version': '2' } } },
      'version_ambiguous',
    ],
    [
      'STAT-1: an unknown version is found before authentication',
      { request: { path: '/api/v9/orders', headers: {} } },
      'version_unknown',
    ],
    [
      'ORD-3: retirement is reported without a token',
      { rules: retiredVersion(), request: { headers: {} } },
      'version_retired',
    ],
    [
      'ORD-3: a brownout is reported without a token',
      { rules: brownedOutVersion(), request: { headers: {} } },
      'brownout',
    ],
    [
      'ORD-3: a retired version has no brownouts',
      { rules: { ...retiredVersion(), brownouts: brownout() } },
      'version_retired',
    ],
    [
      'ORD-3: a brownout for a share of the callers needs their identity',
      { rules: brownedOutVersion(0.999999), request: { headers: {} } },
      'credentials_missing',
    ],
    [
      'ORD-3: a brownout for a share of the callers comes before scopes and limits',
      {
        rules: brownedOutVersion(0.999999),
        request: { method: 'DELETE', headers: { authorization: 'Bearer a.b.c' } },
      },
      'brownout',
    ],
    [
      'a brownout share that does not include the caller has no effect',
      { rules: brownedOutVersion(0.000001) },
      'rate_limited',
    ],
    ['AUTH-2: a missing token comes before the limit', { request: { headers: {} } }, 'credentials_missing'],
    [
      'a refused token comes before the limit',
      { token: { kind: 'refused', refusal: { reason: 'token_invalid', description: 'x' } } },
      'token_invalid',
    ],
    [
      'a missing scope comes before the limit',
      { request: { method: 'DELETE', headers: { authorization: 'Bearer a.b.c' } } },
      'scope_insufficient',
    ],
    ['the limit comes last', {}, 'rate_limited'],
    [
      'RL-13: an unavailable limit refuses',
      { quota: { kind: 'unavailable', limit: LIMIT, rule: RULE } },
      'limits_unavailable',
    ],
  ])('%s', async (_, situation, reason) => {
    expect(reasonOf(await judge(situation))).toBe(reason);
  });

  it('JWT-4: a missing key to verify a token is a fault, not a 401', async () => {
    await expect(judge({ token: { kind: 'unavailable' } })).rejects.toMatchObject({
      code: 'identity_unavailable',
    });
  });

  it.each<[string, ViewParts, string | undefined]>([
    ['the path', { path: '/api/v9/orders' }, 'path'],
    ['the header', { path: '/api/orders', headers: { 'api-version': 'nine' } }, 'header'],
    ['two carriers that disagree', { headers: { 'api-version': '2' } }, undefined],
  ])('VER-6: a version refused for %s is recorded with its carrier', async (_, request, carrier) => {
    const exchange = exchangeIn({ request });
    const facts = exchange.begin('b6f6b7f2-7a39-4d4d-9f68-54b7a5f1a001');
    await exchange.decide(view(request), facts);
    expect(facts.decision.carrier).toBe(carrier);
  });

  it.each([
    ['https', 421],
    ['http', 404],
  ] as const)('TLS-4: over %s an unknown host is answered with %i', async (scheme, status) => {
    const exchange = exchangeIn({});
    const facts = exchange.begin('b6f6b7f2-7a39-4d4d-9f68-54b7a5f1a001');
    expect(exchange.refuse({ reason: 'host_unknown' }, facts, view({ scheme })).status).toBe(status);
  });

  it.each([
    [86_400, 'max-age=86400'],
    [0, 'max-age=0'],
    [undefined, undefined],
  ])('TLS-6: hsts of %s seconds is %s', (hstsSeconds, line) => {
    const exchange = exchangeIn({ hstsSeconds });
    const facts = exchange.begin('b6f6b7f2-7a39-4d4d-9f68-54b7a5f1a001');
    const { headers } = exchange.refuse({ reason: 'route_unknown' }, facts, view());
    expect(headers.get('strict-transport-security')).toBe(line);
  });

  it('ORD-2, VER-9: the judged request is forwarded without its version carriers', async () => {
    const directive = await judge({
      quota: { ...EXHAUSTED, allowed: true },
      request: { path: '/api/v1/orders/a%2Fb', search: '?x=1&x=2&y=%2f' },
    });
    expect(directive).toEqual({
      kind: 'forward',
      forward: {
        maxBody: 1_000_000,
        upstream,
        target: '/orders/a%2Fb?x=1&x=2&y=%2f',
        label: 'v1',
        clientPlace: {
          view: expect.objectContaining({ path: '/api/v1/orders/a%2Fb', host: 'api.example.com' }),
          tail: '/a%2Fb',
          query: undefined,
          public: 'https://api.example.com',
        },
      },
    });
  });
});

describe('the pipeline', () => {
  const quota = { ...EXHAUSTED, allowed: true };

  it.each<[string, Situation]>([
    ['a request that is forwarded', { quota }],
    ['a request that is refused', {}],
    ['an unknown path', { request: { path: '/nowhere' } }],
    ['a refusal by the guard', { guarded: true }],
  ])('decides %s without a promise', (_, situation) => {
    expect(decideIn(situation)).not.toBeInstanceOf(Promise);
  });

  it.each<[string, Situation]>([
    ['a token', { quota, token: Promise.resolve(ACME) }],
    ['a lease', { take: async () => [quota] }],
  ])('decides a request that waits for %s like one that does not', async (_, situation) => {
    const waiting = decideIn(situation);
    expect(waiting).toBeInstanceOf(Promise);
    expect(await waiting).toEqual(decideIn({ quota }));
  });

  it.each<[string, Situation]>([
    ['throws', { take: () => expect.fail('broken') }],
    ['rejects', { take: async () => expect.fail('broken') }],
  ])('rejects if the limiter %s', async (_, situation) => {
    await expect(decideIn(situation)).rejects.toThrow('broken');
  });
});

describe('redirects of a retired version', () => {
  const moved = (): VersionRules => {
    const base = retiredVersion();
    return { ...base, schedule: { ...base.schedule, after: { kind: 'redirect', to: 'v2', unsafe: 308 } } };
  };

  it('RET-1: are 301 for a read and 308 for a write', async () => {
    const read = await judge({ rules: moved(), request: { search: '?x=1&x=2' } });
    const write = await judge({ rules: moved(), request: { method: 'POST' } });
    expect(read).toMatchObject({
      refusal: { status: 301, location: 'https://api.example.com/api/v2/orders/7?x=1&x=2' },
    });
    expect(write).toMatchObject({ refusal: { status: 308 } });
  });

  it('RET-4: skip ended versions, and without a target the version is gone', async () => {
    const ended = { label: 'v2', path: '/api/v2/orders', tail: undefined };
    const open = { label: 'v3', path: '/api/v3/orders', tail: undefined };
    const others = [{ ...retiredVersion(), label: 'v2' }];
    expect(await judge({ rules: { ...moved(), redirects: [ended, open] }, others })).toMatchObject({
      refusal: { status: 301, location: 'https://api.example.com/api/v3/orders/7' },
    });
    const last = await judge({ rules: { ...moved(), redirects: [ended] }, others });
    expect(reasonOf(last)).toBe('version_retired');
  });

  it.each([
    ['the header alone', '/api/orders/7'],
    ['the header beside the path', '/api/v1/orders/7'],
  ])('RET-5: a version named by %s is gone, because the client would name it again', async (_, path) => {
    const directive = await judge({ rules: moved(), request: { path, headers: { 'api-version': '1' } } });
    expect(reasonOf(directive)).toBe('version_retired');
  });
});
