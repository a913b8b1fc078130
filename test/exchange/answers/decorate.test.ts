// The header lines of every response: lifecycle, quota, Vary, request id, HSTS.
import fc from 'fast-check';
import { parseList } from 'structured-headers';
import { describe, expect, it } from 'vitest';
import { type AnswerHeaders, HeaderLines } from '../../../gateway/exchange/answer-headers.ts';
import { decorate } from '../../../gateway/exchange/answers/decorate.ts';
import type { Decision, ExchangeFacts } from '../../../gateway/exchange/facts.ts';
import { phaseAt } from '../../../gateway/policy/lifecycle/phases.ts';
import { idempotencyOf } from '../../../gateway/sections/idempotency/compile.ts';
import { cleanFields } from '../../../gateway/upstream/response-headers.ts';
import {
  deprecatedFacts,
  LIMIT,
  NOW,
  RULE,
  upstream,
  version,
  view,
  withFacts,
} from '../../support/exchange-samples.ts';
import { fieldProblem } from '../../support/field-grammar.ts';
import { fuzz } from '../../support/fuzz.ts';

const KEYS = idempotencyOf([{ methods: ['POST'] }]);
const HSTS = 'max-age=31536000';

function decorated(
  headers: AnswerHeaders,
  facts = deprecatedFacts(),
  scheme: 'https' | 'http' = 'https',
): AnswerHeaders {
  const lines = new HeaderLines(headers);
  decorate(lines, facts, view({ scheme }), HSTS);
  // Fields read by cleanFields give the same lines in the same order.
  const cleaned = cleanFields(headers, upstream);
  cleaned.remove('via');
  decorate(cleaned, facts, view({ scheme }), HSTS);
  expect(cleaned.flat).toEqual(lines.flat);
  const names = lines.flat.filter((_, at) => at % 2 === 0);
  expect(names).toEqual([...new Set(names)]);
  return lines.record();
}

function upstreamWins(facts: ExchangeFacts): ExchangeFacts {
  return withFacts(facts, { api: facts.decision.api && { ...facts.decision.api, upstreamWins: true } });
}

const signalText = fc.oneof(
  fc.constantFrom(
    'true',
    '@1',
    'Fri, 15 Jan 2027 00:00:00 GMT',
    'Thu, 1 Jan 1970 00:00:00 GMT',
    'Invalid Date',
  ),
  fc.string({ unit: fc.constantFrom(...'@-0123456789.,:;? "trueFiJanGMT'), maxLength: 30 }),
  fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
  fc.integer().map((seconds) => `@${seconds}`),
);
/** Random values of Deprecation or Sunset, some valid, most not. */
const sentSignal = fc.oneof(signalText, fc.array(signalText, { minLength: 2, maxLength: 3 }));

describe('decorate', () => {
  it('DEP-2: a response has one Deprecation line, even if the upstream sends its own', () => {
    const headers = decorated({ deprecation: ['@1', '@2'], sunset: 'Thu, 01 Jan 1970 00:00:00 GMT' });
    expect(headers.deprecation).toBe('@1768435200');
    expect(headers.sunset).toBe('Thu, 15 Apr 2027 00:00:00 GMT');
  });

  it('DEP-2, SUN-3: if the upstream wins, its valid values stay', () => {
    const facts = upstreamWins(deprecatedFacts());
    const [ours, later] = ['@1768435200', 'Thu, 15 Apr 2027 00:00:00 GMT'];
    const [date, mended] = ['Fri, 15 Jan 2027 00:00:00 GMT', 'Mon, 01 Jun 2026 00:00:00 GMT'];
    const rows: readonly (readonly [name: string, theirs: AnswerHeaders[string], out: string])[] = [
      ['deprecation', '@1700000000', '@1700000000'],
      ['deprecation', '@-1', '@-1'],
      ['deprecation', 'true', 'true'],
      ['deprecation', date, date],
      ['deprecation', undefined, ours],
      ['deprecation', '', ours],
      ['deprecation', ['@1', '@1'], ours],
      ['deprecation', '@1, @2', ours],
      ['deprecation', '@1.5', ours],
      ['deprecation', '@1768435200000000', ours],
      ['deprecation', '1768435200', ours],
      ['deprecation', '?1', ours],
      ['deprecation', '"@1"', ours],
      ['deprecation', 'Invalid Date', ours],
      ['deprecation', '2027-01-15T00:00:00.000000000Z', ours],
      ['sunset', date, date],
      ['sunset', mended, mended],
      ['sunset', undefined, later],
      ['sunset', [date, date], later],
      ['sunset', `${date}, ${date}`, later],
      // RFC 8594 and RFC 9745 contain examples with a wrong weekday and a wrong zone.
      ['sunset', 'Sun, 01 Jun 2026 00:00:00 GMT', later],
      ['sunset', 'Mon, 01 Jun 2026 00:00:00 UTC', later],
      ['sunset', 'Mon, 1 Jun 2026 00:00:00 GMT', later],
      ['sunset', 'Tue, 31 Jun 2026 00:00:00 GMT', later],
      ['sunset', 'Friday, 15-Jan-27 00:00:00 GMT', later],
      ['sunset', 'Invalid Date', later],
      ['sunset', '@1700000000', later],
      ['sunset', 'true', later],
      ['x-api-deprecation-info', 'https://elsewhere.example.com/', 'https://status.example.com/orders-v1'],
    ];
    for (const [name, theirs, out] of rows)
      expect(decorated({ [name]: theirs }, facts)[name], `${name} ${theirs}`).toBe(out);
  });

  it('DEP-5: if the upstream wins, no sunset precedes its deprecation', () => {
    const facts = upstreamWins(deprecatedFacts());
    const ours = { deprecation: '@1768435200', sunset: 'Thu, 15 Apr 2027 00:00:00 GMT' };
    const early = 'Mon, 15 Jun 2020 00:00:00 GMT';
    const rows: readonly (readonly [theirs: AnswerHeaders, out: AnswerHeaders])[] = [
      [{ sunset: early }, ours],
      [{ deprecation: '@1900000000' }, ours],
      [{ deprecation: early, sunset: 'Sun, 14 Jun 2020 00:00:00 GMT' }, ours],
      [
        { deprecation: '@1', sunset: early },
        { deprecation: '@1', sunset: early },
      ],
      [
        { deprecation: early, sunset: early },
        { deprecation: early, sunset: early },
      ],
      [
        { deprecation: 'true', sunset: early },
        { deprecation: 'true', sunset: early },
      ],
      [{ deprecation: early }, { deprecation: early, sunset: ours.sunset }],
    ];
    for (const [theirs, out] of rows)
      expect(decorated({ ...theirs }, facts), JSON.stringify(theirs)).toMatchObject(out);
  });

  it('DEP-5, WARN-1: if the upstream wins, no two lines of a response name different dates', () => {
    const facts = upstreamWins(deprecatedFacts());
    const [deprecation, sunset] = ['@1768435200', 'Thu, 15 Apr 2027 00:00:00 GMT'];
    const rows: readonly (readonly [theirs: AnswerHeaders, warns: boolean])[] = [
      [{}, true],
      [{ deprecation }, true],
      [{ deprecation, sunset }, true],
      [{ sunset: 'Fri, 16 Apr 2027 00:00:00 GMT' }, false],
      [{ deprecation: '@1794182400' }, false],
      // Malformed, or a sunset before the deprecation: the gateway's lines and warning stay.
      [{ sunset: 'soon' }, true],
      [{ sunset: 'Mon, 15 Jun 2020 00:00:00 GMT' }, true],
    ];
    for (const [theirs, warns] of rows)
      expect(decorated({ ...theirs }, facts).warning !== undefined, JSON.stringify(theirs)).toBe(warns);
    // Without a sunset of its own, an upstream's sunset before the deprecation is removed.
    const whole = phaseAt(version().phases, NOW);
    const phase = { ...whole, replace: whole.replace.filter(([name]) => name !== 'sunset') };
    const out = decorated({ sunset: 'Mon, 15 Jun 2020 00:00:00 GMT' }, withFacts(facts, { phase }));
    expect([out.deprecation, out.sunset]).toEqual([deprecation, undefined]);
  });

  it.each([
    ['key', 'public, max-age=60', 'private, max-age=60'],
    ['certificate', undefined, 'private'],
    ['token', 'public, max-age=60', 'private, max-age=60'],
    ['token', 'must-understand, no-store', 'private, must-understand, no-store'],
    ['key', 'public, no-store', 'no-store'],
  ] as const)(
    'CACHE-3: for a caller identified by %s, %s becomes %s, unless the API is shared',
    (via, theirs, out) => {
      const consumer = { id: 'acme', mayLabelMetrics: true, via, scopes: new Set<string>(), claims: {} };
      const facts = deprecatedFacts({ consumer });
      expect(decorated({ 'cache-control': theirs }, facts)['cache-control']).toBe(out);
      const shared = withFacts(facts, { api: facts.decision.api && { ...facts.decision.api, shared: true } });
      expect(decorated({ 'cache-control': theirs }, shared)['cache-control']).toBe(theirs);
      const pinned = decorated({ 'cache-control': theirs }, withFacts(shared, { perAccount: true }));
      expect(pinned['cache-control']).toBe(out);
    },
  );

  it('CACHE-2: if anonymous callers are served too, all credential fields join Vary', () => {
    const facts = deprecatedFacts();
    const vary = 'API-Version, Authorization, X-API-Key';
    expect(decorated({}, withFacts(facts, { version: version({ vary }) })).vary).toBe(vary);
    const api = facts.decision.api && { ...facts.decision.api, vary };
    expect(decorated({}, withFacts(facts, { version: undefined, api })).vary).toBe(vary);
    expect(decorated({ vary: 'authorization' }, withFacts(facts, { version: version({ vary }) })).vary).toBe(
      'authorization, API-Version, X-API-Key',
    );
  });

  it('DEP-3, SUN-1: if the upstream wins, no malformed value reaches a client', async () => {
    const property = fc.property(fc.constantFrom('deprecation', 'sunset'), sentSignal, (name, theirs) => {
      const out = decorated({ [name]: theirs }, upstreamWins(deprecatedFacts()))[name];
      expect(typeof out === 'string' ? fieldProblem(name, out) : 'no singleton').toBeUndefined();
    });
    await fuzz(property, 500);
  });

  describe('DEP-3, SUN-1: for a version without its own dates', () => {
    const stages = [
      ['active', 'where the gateway wins'],
      ['active', 'where the upstream wins'],
      ['deprecated without a sunset', 'where the gateway wins'],
      ['deprecated without a sunset', 'where the upstream wins'],
    ] as const;
    const factsOf = (stage: string, wins: string): ExchangeFacts => {
      const { schedule, phasesOf } = version();
      const now = stage === 'active' ? Date.UTC(2025, 0, 1) : NOW;
      const phases = phasesOf({ ...schedule, sunset: undefined });
      const facts = deprecatedFacts({ now, phase: phaseAt(phases, now) });
      return wins === 'where the upstream wins' ? upstreamWins(facts) : facts;
    };

    it.each(stages)('%s: no malformed line of the upstream reaches a client, %s', async (stage, wins) => {
      const facts = factsOf(stage, wins);
      const property = fc.property(fc.constantFrom('deprecation', 'sunset'), sentSignal, (name, theirs) => {
        const out = decorated({ [name]: theirs }, facts)[name];
        if (out !== undefined)
          expect(typeof out === 'string' ? fieldProblem(name, out) : 'no singleton').toBeUndefined();
      });
      await fuzz(property, 500);
    });

    it.each(stages)('%s: a valid Sunset of the upstream stays, %s', (stage, wins) => {
      const sunset = 'Fri, 15 Jan 2027 00:00:00 GMT';
      expect(decorated({ sunset }, factsOf(stage, wins)).sunset).toBe(sunset);
      expect(decorated({ sunset: [sunset, sunset] }, factsOf(stage, wins))).not.toHaveProperty('sunset');
    });
  });

  it('LNK-1, WARN-4: if the upstream wins, the gateway still appends links and warnings', () => {
    const headers = decorated(
      { link: '</own>; rel="self"', warning: '299 - "own"' },
      upstreamWins(deprecatedFacts()),
    );
    expect(headers).toEqual({
      ...decorated({}),
      link: expect.stringMatching(/^<\/own>; rel="self", </),
      warning: expect.stringMatching(/^299 - "own", 299 - "/),
    });
  });

  it("LNK-1: the upstream's links stay before the gateway's", () => {
    const headers = decorated({ link: '</orders?page=2>; rel="next"' });
    expect(headers.link).toMatch(/^<\/orders\?page=2>; rel="next", </);
    expect(headers.link).toContain('<https://api.example.com/api/v2/orders/7>; rel="successor-version"');
  });

  it("WARN-4: a warning is appended to the upstream's", () => {
    const headers = decorated({ warning: '299 - "theirs"' });
    expect(headers.warning).toMatch(/^299 - "theirs", 299 - "/);
  });

  it('CACHE-2: the version header joins Vary once, regardless of case', () => {
    expect(decorated({ vary: 'Accept-Encoding, api-version' }).vary).toBe('Accept-Encoding, api-version');
    expect(decorated({ vary: ['Accept', 'Origin'] }).vary).toBe('Accept, Origin, API-Version');
    expect(decorated({}).vary).toBe('API-Version');
  });

  it('CACHE-2: `Vary: *` of the upstream stays', () => {
    expect(decorated({ vary: '*' }).vary).toBe('*');
  });

  it('CACHE-3: nginx does not cache a response for one account, even if the upstream allows it', () => {
    const facts = deprecatedFacts({ perAccount: true });
    const headers = decorated({ 'x-accel-expires': '3600', 'cache-control': 'public' }, facts);
    expect(headers).toMatchObject({ 'x-accel-expires': '0', 'cache-control': 'private' });
    expect(decorated({}, facts)).not.toHaveProperty('x-accel-expires');
  });

  it.each<[string, (decision: Decision) => Partial<Decision>, boolean]>([
    ['is for all callers', () => ({}), false],
    ['depends on the pin of the account', () => ({ perAccount: true }), true],
    ['exempts some callers', () => ({ differsByCaller: true }), true],
    ['has the sunset of one consumer', ({ phase }) => ({ phase: phase && { ...phase, sunset: 1 } }), true],
  ])('CACHE-3: a response is private only if it differs by caller: it %s', (_what, changes, isPrivate) => {
    const facts = deprecatedFacts();
    const headers = decorated({ 'cache-control': 'max-age=60' }, withFacts(facts, changes(facts.decision)));
    expect(headers['cache-control']).toBe(isPrivate ? 'private, max-age=60' : 'max-age=60');
  });

  it("RL-2: the upstream's X-RateLimit lines are replaced by the gateway's", () => {
    const headers = decorated({ 'x-ratelimit-limit': '9999', 'x-ratelimit-remaining': '9998' });
    expect(headers['x-ratelimit-limit']).toBe('60');
    expect(headers['x-ratelimit-remaining']).toBe('59');
  });

  /** A version with the limits default, all and a shadow limit. The default one is lowered. */
  function limited(): ExchangeFacts {
    const named = (name: string) => ({ ...RULE, active: { ...LIMIT, name }, deprecated: { ...LIMIT, name } });
    const lowered = { ...RULE, deprecated: { ...LIMIT, name: 'deprecated' } };
    const each = [lowered, named('all'), { ...named('trial'), shadow: true }];
    return deprecatedFacts({ version: version({ limits: { each, cost: 1 } }) });
  }

  const OURS = '"deprecated";q=60;w=60';
  it.each<[what: string, theirs: string | string[], expected: string]>([
    ['with a name that no gateway limit has', '"burst";q=9;w=1', `"burst";q=9;w=1, ${OURS}`],
    ['with the name of a gateway limit', '"deprecated";q=9;w=1', `"upstream:deprecated";q=9;w=1, ${OURS}`],
    ['with the name of a limit of another stage', '"default";q=9', `"upstream:default";q=9, ${OURS}`],
    ['with the name of a limit that is not shown', '"all";q=9', `"upstream:all";q=9, ${OURS}`],
    ['with the name of a shadow limit, which is never shown', '"trial";q=9', `"trial";q=9, ${OURS}`],
    ['from another Sundial gateway', '"upstream:all";q=9', `"upstream:upstream:all";q=9, ${OURS}`],
    [
      'for two partitions',
      '"all";q=9;pk=:YQ==:,"all";q=8;pk=:Yg==:',
      `"upstream:all";q=9;pk=:YQ==:, "upstream:all";q=8;pk=:Yg==:, ${OURS}`,
    ],
    ['on two lines', ['"a";q=1', '"all";q=2'], `"a";q=1, "upstream:all";q=2, ${OURS}`],
    ['with a quote in its name', '"\\"all\\"";q=9', `"\\"all\\"";q=9, ${OURS}`],
    [
      'with a comma in a parameter',
      '"all";q=9;qu="a, \\"all\\""',
      `"upstream:all";q=9;qu="a, \\"all\\"", ${OURS}`,
    ],
    ['that is empty', '', OURS],
    ['of draft 07', 'limit=9, remaining=1, reset=5', OURS],
    ['of draft 03', '9;w=1', OURS],
    ['without quotes', 'default;q=9', OURS],
    ['that is truncated', '"all";q=9, "de', OURS],
    ['with a trailing comma', '"all";q=9,', OURS],
    ['with characters that no field may have', '"äll";q=9', OURS],
  ])('RL-5: a policy of the upstream %s does not replace that of the gateway', (_what, theirs, expected) => {
    expect(decorated({ 'ratelimit-policy': theirs }, limited())['ratelimit-policy']).toBe(expected);
    const degraded = { kind: 'degraded', rule: RULE, limit: LIMIT, allowed: true, retryAfterMs: 0 } as const;
    const without = decorated({ ratelimit: theirs }, withFacts(limited(), { quotas: [degraded] }));
    // While the store is unavailable the gateway adds no line, and renames in the same way.
    expect(without.ratelimit).toBe(expected === OURS ? undefined : expected.slice(0, -`, ${OURS}`.length));
  });

  it('RL-5: the fields of the upstream stay if the gateway shows no limit', () => {
    const theirs = { ratelimit: 'limit=9, remaining=1', 'ratelimit-policy': '"default";q=9' };
    expect(decorated({ ...theirs }, deprecatedFacts({ quotas: undefined }))).toMatchObject(theirs);
    const shadow = { each: [{ ...RULE, shadow: true }], cost: 1 };
    const facts = deprecatedFacts({ quotas: [], version: version({ limits: shadow }) });
    expect(decorated({ ...theirs }, facts)).toMatchObject(theirs);
  });

  it('RL-5: for any upstream value, clients can parse the list, which has our limit once', async () => {
    const piece = fc.constantFrom(
      '"',
      'all',
      'default',
      '"all"',
      '"upstream:',
      ';q=1',
      ';pk=:YQ==:',
      ',',
      ', ',
      '\\',
      'é',
    );
    const text = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));
    await fuzz(
      fc.property(text, (theirs) => {
        const line = decorated({ 'ratelimit-policy': theirs }, limited())['ratelimit-policy'];
        const names = parseList(String(line)).map(([name]) => name);
        expect(names.filter((name) => name === 'deprecated')).toHaveLength(1);
        expect(names.at(-1)).toBe('deprecated');
        expect(names).not.toContain('default');
      }),
      300,
    );
  });

  it('RL-13: no numbers are sent while the store is unavailable', () => {
    const limit = { name: 'default', units: 1, windowMs: 1000, burst: 1 };
    const quotas = [{ kind: 'degraded', rule: RULE, limit, allowed: true, retryAfterMs: 0 }] as const;
    const facts = deprecatedFacts({ quotas });
    const headers = decorated({ 'x-ratelimit-limit': '9999', 'x-ratelimit-remaining': '9998' }, facts);
    expect(Object.keys(headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
  });

  it("a field of the gateway never has the upstream's value", () => {
    const facts = deprecatedFacts();
    const { version: rules, api } = facts.decision;
    const own = {
      ...{ 'x-api-version-requested': undefined, 'x-api-version-served': 'v1' },
      ...{ 'x-api-lifecycle-stage': 'deprecated', 'idempotency-replayed': undefined },
      ...{ 'access-control-allow-origin': undefined, 'access-control-allow-credentials': undefined },
      ...{ 'access-control-expose-headers': undefined, 'x-request-id': facts.start.requestId },
    };
    const cors = { origins: new Set(['https://app.example.com']) };
    const keyed = withFacts(facts, {
      api: api && { ...api, echo: true, cors },
      version: rules && { ...rules, idempotency: KEYS },
    });
    for (const [name, ours] of Object.entries(own))
      expect(decorated({ [name]: 'theirs' }, keyed)[name], name).toBe(ours);
  });

  it('TLS-6: only TLS responses have HSTS, and never with the value of the upstream', () => {
    expect(decorated({ 'strict-transport-security': 'max-age=1' })['strict-transport-security']).toBe(HSTS);
    const plain = decorated({ 'strict-transport-security': 'max-age=1' }, deprecatedFacts(), 'http');
    expect(plain).not.toHaveProperty('strict-transport-security');
  });
});
