// Phases, their signals, and the answer after sunset, at fixed instants.
import fc from 'fast-check';
import { parseItem } from 'structured-headers';
import { describe, expect, it } from 'vitest';
import { linkTarget, linkValue } from '../../gateway/policy/lifecycle/links.ts';
import { createPhases, phaseAt } from '../../gateway/policy/lifecycle/phases.ts';
import { hasEnded, retire } from '../../gateway/policy/lifecycle/retirement.ts';
import type { DeprecationForm, Phase, Schedule, Stage } from '../../gateway/policy/lifecycle/schedule.ts';
import { parsePageUrl } from '../../gateway/policy/lifecycle/section.ts';
import { anyText } from '../support/any-text.ts';

const at = (text: string) => Temporal.Instant.from(text).epochMilliseconds;
const day = (text: string) => at(`${text}T00:00:00Z`);

const schedule: Schedule = {
  released: day('2024-06-01'),
  deprecated: day('2025-06-01'),
  sunset: day('2026-06-01'),
  retired: day('2026-12-01'),
  forgotten: undefined,
  successor: 'v2',
  guide: 'https://dev.example.com/migrate/v2',
  status: 'https://status.example.com/v1',
  reason: undefined,
  after: { kind: 'gone' },
};
const bare: Schedule = {
  ...schedule,
  deprecated: undefined,
  sunset: undefined,
  retired: undefined,
  successor: undefined,
  guide: undefined,
  status: undefined,
};
const options = { label: 'v1', form: 'rfc9745', warning: true } as const;
const STAGES: readonly Stage[] = ['planned', 'active', 'deprecated', 'sunset', 'retired'];

function phase(changes: Partial<Schedule>, stage: Stage, form: DeprecationForm = 'rfc9745'): Phase {
  const found = createPhases({ ...schedule, ...changes }, { ...options, form }).find(
    (each) => each.stage === stage,
  );
  if (found === undefined) throw new Error(`no ${stage} phase`);
  return found;
}

describe('stages', () => {
  const phases = createPhases(schedule, options);

  it.each<[string, Stage]>([
    ['2024-05-31T23:59:59.999Z', 'planned'],
    ['2024-06-01T00:00:00Z', 'active'],
    ['2025-05-31T23:59:59.999Z', 'active'],
    ['2025-06-01T00:00:00Z', 'deprecated'],
    ['2026-05-31T23:59:59.999Z', 'deprecated'],
    ['2026-06-01T00:00:00Z', 'sunset'],
    ['2026-12-01T00:00:00Z', 'retired'],
  ])('SUN-2, RET-11: at %s the version is %s', (instant, stage) => {
    expect(phaseAt(phases, at(instant)).stage).toBe(stage);
  });

  it('a version without dates is planned, then active for ever', () => {
    expect(createPhases(bare, options).map(({ stage, from, until }) => [stage, from, until])).toEqual([
      ['planned', -Infinity, schedule.released],
      ['active', schedule.released, Infinity],
    ]);
  });

  it('without a date of its own, retirement coincides with sunset', () => {
    const stages = createPhases({ ...schedule, retired: undefined }, options).map((each) => each.stage);
    expect(stages).toEqual(['planned', 'active', 'deprecated', 'retired']);
  });

  it('RFC 8631: how a version is called is linked for as long as it is served, before and after the deprecation', () => {
    const serviceDoc = 'https://docs.example.com/v1';
    const serviceDesc = 'https://docs.example.com/v1/openapi.yaml';
    const both = `<${serviceDoc}>; rel="service-doc", <${serviceDesc}>; rel="service-desc"`;
    const links = (changes: Partial<Schedule>) =>
      createPhases({ ...schedule, ...changes }, options).map((each) => each.links);
    const [before, , deprecated = '', sunset, retired] = links({});
    expect(links({ serviceDoc, serviceDesc })).toEqual([
      before,
      both,
      `${deprecated}, ${both}`,
      sunset,
      retired,
    ]);
    const alone = { ...bare, serviceDesc };
    expect(createPhases(alone, options).map((each) => each.links)).toEqual([
      '',
      `<${serviceDesc}>; rel="service-desc"`,
    ]);
  });

  it('a version released and deprecated at one instant is never active', () => {
    const stages = createPhases({ ...schedule, released: day('2025-06-01') }, options).map(
      (each) => each.stage,
    );
    expect(stages).toEqual(['planned', 'deprecated', 'sunset', 'retired']);
  });

  it('a version released before all time, as that of an unversioned API, has one active phase', () => {
    const phases = createPhases({ ...bare, released: -Infinity }, options);
    expect(phases.map(({ stage, from, until }) => [stage, from, until])).toEqual([
      ['active', -Infinity, Infinity],
    ]);
  });

  const instant = fc.integer({ min: day('1970-01-01'), max: day('9999-12-31') });
  const date = fc.option(instant, { nil: undefined });
  const dates = fc.record({ released: instant, deprecated: date, sunset: date, retired: date });

  it('phases cover all time without gaps and stages only move forward, whatever the dates', () => {
    fc.assert(
      fc.property(dates, (drawn) => {
        const phases = createPhases({ ...schedule, ...drawn }, options);
        expect(phases[0]?.from).toBe(-Infinity);
        expect(phases.at(-1)?.until).toBe(Infinity);
        phases.forEach((each, index) => {
          expect(each.from).toBeLessThan(each.until);
          const next = phases[index + 1];
          if (next === undefined) return;
          expect(next.from).toBe(each.until);
          expect(STAGES.indexOf(next.stage)).toBeGreaterThan(STAGES.indexOf(each.stage));
        });
      }),
    );
  });

  it('RET-11: from the sunset instant no version is served, whatever the other dates', () => {
    fc.assert(
      fc.property(dates, instant, (drawn, now) => {
        const { stage } = phaseAt(createPhases({ ...schedule, ...drawn }, options), now);
        if (drawn.sunset !== undefined && now >= drawn.sunset) expect(['sunset', 'retired']).toContain(stage);
      }),
    );
  });

  it('DEP-3, SUN-1: every generated Deprecation and Sunset line parses back to its second', () => {
    fc.assert(
      fc.property(instant, instant, (deprecated, sunset) => {
        const lines = new Map(
          phase(
            { released: 0, deprecated: Math.min(deprecated, sunset), sunset: sunset + 1000 },
            'deprecated',
          ).replace,
        );
        const [item] = parseItem(lines.get('deprecation') ?? '');
        expect(item).toEqual(new Date(Math.floor(Math.min(deprecated, sunset) / 1000) * 1000));
        expect(lines.get('deprecation')).toMatch(/^@\d{1,15}$/);
        const text = lines.get('sunset') ?? '';
        expect(text).toHaveLength(29);
        expect(Date.parse(text)).toBe(Math.floor((sunset + 1000) / 1000) * 1000);
        expect(new Date(text).toUTCString()).toBe(text);
      }),
    );
  });
});

describe('signals', () => {
  it('a planned or active version sends none, though its dates are known', () => {
    for (const stage of ['planned', 'active'] as const) {
      expect(phase({}, stage)).toMatchObject({
        replace: [],
        warning: undefined,
        links: '',
        linksSuccessor: false,
      });
    }
  });

  it('DEP-2, SUN-3, XDI-1: a deprecated version sends one line of each', () => {
    expect(phase({}, 'deprecated').replace).toEqual([
      ['deprecation', '@1748736000'],
      ['sunset', 'Mon, 01 Jun 2026 00:00:00 GMT'],
      ['x-api-deprecation-info', 'https://status.example.com/v1'],
    ]);
  });

  it.each<[DeprecationForm, string]>([
    ['rfc9745', '@1748736000'],
    ['true', 'true'],
    ['http-date', 'Sun, 01 Jun 2025 00:00:00 GMT'],
  ])('DEP-1: Deprecation as %s', (form, value) => {
    expect(phase({}, 'deprecated', form).replace[0]).toEqual(['deprecation', value]);
  });

  it('DEP-3: a date with milliseconds is sent in whole seconds', () => {
    expect(phase({ deprecated: at('2025-06-01T00:00:00.900Z') }, 'deprecated').replace[0]).toEqual([
      'deprecation',
      '@1748736000',
    ]);
  });

  it('WARN-1, WARN-3: the warning names the agent, the day and the guide, and no warn-date', () => {
    expect(phase({}, 'deprecated').warning).toBe(
      '299 - "Version v1 is deprecated and will be removed on 2026-06-01; see https://dev.example.com/migrate/v2"',
    );
  });

  it('WARN-1: a version without sunset and guide warns of what is known', () => {
    expect(phase({ sunset: undefined, retired: undefined, guide: undefined }, 'deprecated').warning).toBe(
      '299 - "Version v1 is deprecated"',
    );
  });

  it('WARN-5: the warning can be switched off', () => {
    const phases = createPhases(schedule, { ...options, warning: false });
    expect(phases.map((each) => each.warning)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('WARN-2: nothing in a label or a guide breaks out of the quoted string or leaves ASCII', () => {
    fc.assert(
      fc.property(anyText, anyText, (label, guide) => {
        const phases = createPhases({ ...schedule, guide }, { ...options, label });
        expect(phaseAt(phases, day('2026-01-01')).warning).toMatch(
          /^299 - "(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"$/,
        );
      }),
    );
  });

  it('RET-8: after sunset the dates and links stay, the announcing warning goes', () => {
    for (const stage of ['sunset', 'retired'] as const) {
      const { replace, links, linksSuccessor } = phase({}, 'deprecated');
      expect(phase({}, stage)).toMatchObject({ replace, links, linksSuccessor, warning: undefined });
    }
  });
});

describe('links', () => {
  const successor = 'https://api.example.com/api/v2/users/a%2Fb';

  it('LNK-1, LNK-2: guide, status page and the same resource in the successor', () => {
    expect(linkValue(phase({}, 'deprecated'), successor)).toBe(
      '<https://dev.example.com/migrate/v2>; rel="deprecation"; type="text/html", ' +
        '<https://status.example.com/v1>; rel="status", ' +
        `<${successor}>; rel="successor-version"`,
    );
  });

  it('RFC 8594: the page of the API says what the end means, where there is one', () => {
    const page = 'https://api.example.com/.well-known/lifecycle/users';
    const linksOf = (changes: Partial<Schedule>) =>
      createPhases({ ...schedule, ...changes }, { ...options, page }).find(
        ({ stage }) => stage === 'deprecated',
      )?.links;
    expect(linksOf({})).toContain(`, <${page}>; rel="sunset"`);
    expect(linksOf({ sunset: undefined, retired: undefined })).not.toContain('rel="sunset"');
  });

  it('specification, Versioning 5: a substitute is an alternate, and only where there is no successor', () => {
    const alternate = 'https://other.example.com/people';
    const instead = `<${alternate}>; rel="alternate"`;
    expect(linkValue(phase({ alternate, successor: undefined }, 'deprecated'), undefined)).toContain(instead);
    expect(linkValue(phase({ alternate }, 'deprecated'), successor)).not.toContain(instead);
    expect(linkValue(phase({ alternate, successor: undefined }, 'active'), undefined)).toBeUndefined();
  });

  it.each([
    'https://a.example/#a#b',
    'https://a.example/%zz',
    'https://a.example/[x]',
    'https://a.example/a|b',
  ])('LNK-3: a page whose address no URI may have is refused: %s', (text) =>
    expect(parsePageUrl(text)).toBeUndefined(),
  );

  it('LNK-3: what no path of a URI has is encoded, in the path alone', () => {
    expect(linkTarget('http://[::1]:8443/a[b]|^`{}?c[d]=|')).toBe(
      'http://[::1]:8443/a%5Bb%5D%7C%5E%60%7B%7D?c[d]=|',
    );
  });

  it('LNK-2: the successor alone', () => {
    expect(linkValue(phase({ guide: undefined, status: undefined }, 'deprecated'), successor)).toBe(
      `<${successor}>; rel="successor-version"`,
    );
  });

  it('no line when there is nothing to link, and no successor before deprecation', () => {
    expect(linkValue(phase({}, 'active'), successor)).toBeUndefined();
    expect(
      linkValue(
        phase({ guide: undefined, status: undefined, successor: undefined }, 'deprecated'),
        successor,
      ),
    ).toBeUndefined();
    expect(
      linkValue(phase({ guide: undefined, status: undefined }, 'deprecated'), undefined),
    ).toBeUndefined();
  });

  it('LNK-3: what a client writes into a path cannot end the link or the line', () => {
    fc.assert(
      fc.property(anyText, (tail) => {
        const value = linkValue(
          phase({ guide: undefined, status: undefined }, 'deprecated'),
          `https://api.example.com/${tail}`,
        );
        expect(value).toMatch(
          /^<https:\/\/api\.example\.com\/[\x21\x23-\x3b\x3d\x3f-\x5b\x5d-\x7e]*>; rel="successor-version"$/,
        );
      }),
    );
  });

  it('LNK-2: percent-encoding already there is kept', () => {
    expect(linkTarget(successor)).toBe(successor);
  });
});

describe('after sunset', () => {
  const input = {
    label: 'v1',
    operation: undefined,
    schedule,
    phase: phase({}, 'retired'),
    method: 'GET',
    next: { replacement: 'https://api.example.com/api/v2/users/7', successor: undefined },
    redirect: 'https://api.example.com/api/v2/users/7?x=1',
  };
  const gone = {
    reason: 'version_retired',
    label: 'v1',
    operation: undefined,
    since: schedule.sunset,
    ...input.next,
    guide: schedule.guide,
    because: undefined,
  };
  const moving = (unsafe: 301 | 308 | 410): Schedule => ({
    ...schedule,
    after: { kind: 'redirect', to: 'v2', unsafe },
  });

  it.each<[Stage, boolean]>([
    ['planned', false],
    ['active', false],
    ['deprecated', false],
    ['sunset', true],
    ['retired', true],
  ])('RET-11: whether a %s version has ended: %s', (stage, ended) => {
    expect(hasEnded(phase({}, stage))).toBe(ended);
  });

  it.each<Stage>(['sunset', 'retired'])('RET-1, RET-11: gone in stage %s, since its sunset', (stage) => {
    expect(retire({ ...input, phase: phase({}, stage) })).toEqual(gone);
  });

  it.each<[string, 301 | 308 | 410, 301 | 308 | undefined]>([
    ['GET', 308, 301],
    ['HEAD', 308, 301],
    ['POST', 308, 308],
    ['DELETE', 308, 308],
    ['OPTIONS', 308, 308],
    ['POST', 301, 301],
    ['GET', 410, 301],
    ['POST', 410, undefined],
  ])('RET-1, RET-9: %s with unsafe %i gives %s', (method, unsafe, status) => {
    const refusal = retire({ ...input, method, schedule: moving(unsafe) });
    const moved = {
      reason: 'version_moved',
      status,
      label: 'v1',
      operation: undefined,
      since: schedule.sunset,
      location: input.redirect,
      guide: schedule.guide,
    };
    expect(refusal).toEqual(status === undefined ? gone : moved);
  });

  it('RET-8: gone for the reason that its file gives', () => {
    const because = 'money amounts become integers';
    expect(retire({ ...input, schedule: { ...schedule, reason: because } })).toEqual({ ...gone, because });
  });

  it('RET-5: a redirect that would lead back to the request is a 410', () => {
    expect(retire({ ...input, schedule: moving(308), redirect: undefined })).toEqual(gone);
  });

  it('a version retired without a sunset date is gone since its phase began', () => {
    const dates = { sunset: undefined, retired: day('2026-12-01') };
    expect(retire({ ...input, schedule: { ...schedule, ...dates }, phase: phase(dates, 'retired') })).toEqual(
      { ...gone, since: dates.retired },
    );
  });
});
