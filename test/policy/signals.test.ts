// The signals of a deprecated version: dates, warning and links.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linkTarget, linkValue } from '../../gateway/policy/lifecycle/links.ts';
import { parsePageUrl } from '../../gateway/policy/lifecycle/page-url.ts';
import { createPhases, phaseAt } from '../../gateway/policy/lifecycle/phases.ts';
import type { DeprecationForm, Schedule } from '../../gateway/policy/lifecycle/schedule.ts';
import { anyText } from '../support/any-text.ts';
import { at, day, options, phase, schedule } from './dated-versions.ts';

describe('signals', () => {
  it('a planned or active version sends none, although its dates are known', () => {
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

  it('WARN-1: a version without sunset and guide warns of its deprecation', () => {
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

  it('WARN-2: no label or guide can end the quoted string or add non-ASCII characters', () => {
    fc.assert(
      fc.property(anyText, anyText, (label, guide) => {
        const phases = createPhases({ ...schedule, guide }, { ...options, label });
        expect(phaseAt(phases, day('2026-01-01')).warning).toMatch(
          /^299 - "(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"$/,
        );
      }),
    );
  });

  it('RET-8: after the sunset dates and links stay, and the warning is dropped', () => {
    for (const stage of ['sunset', 'retired'] as const) {
      const { replace, links, linksSuccessor } = phase({}, 'deprecated');
      expect(phase({}, stage)).toMatchObject({ replace, links, linksSuccessor, warning: undefined });
    }
  });
});

describe('links', () => {
  const successor = 'https://api.example.com/api/v2/users/a%2Fb';

  it('LNK-1, LNK-2: lead to guide, status page and the same resource in the successor', () => {
    expect(linkValue(phase({}, 'deprecated'), successor)).toBe(
      '<https://dev.example.com/migrate/v2>; rel="deprecation"; type="text/html", ' +
        '<https://status.example.com/v1>; rel="status", ' +
        `<${successor}>; rel="successor-version"`,
    );
  });

  it('RFC 8594: lead to the page of the API if there is one', () => {
    const page = 'https://api.example.com/.well-known/lifecycle/users';
    const linksOf = (changes: Partial<Schedule>) =>
      createPhases({ ...schedule, ...changes }, { ...options, page }).find(
        ({ stage }) => stage === 'deprecated',
      )?.links;
    expect(linksOf({})).toContain(`, <${page}>; rel="sunset"`);
    expect(linksOf({ sunset: undefined, retired: undefined })).not.toContain('rel="sunset"');
  });

  it('specification, Versioning 5: contain an alternate only without a successor', () => {
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
  ])('LNK-3: an invalid page URL is refused: %s', (text) => expect(parsePageUrl(text)).toBeUndefined());

  it('LNK-3: characters that no URI path allows are encoded, only in the path', () => {
    expect(linkTarget('http://[::1]:8443/a[b]|^`{}?c[d]=|')).toBe(
      'http://[::1]:8443/a%5Bb%5D%7C%5E%60%7B%7D?c[d]=|',
    );
  });

  it('LNK-2: may contain only the successor', () => {
    expect(linkValue(phase({ guide: undefined, status: undefined }, 'deprecated'), successor)).toBe(
      `<${successor}>; rel="successor-version"`,
    );
  });

  it('are absent without targets, and have no successor before the deprecation', () => {
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

  it('LNK-3: a path from a client cannot end the link or the line', () => {
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

  it('LNK-2: existing percent-encoding is kept', () => {
    expect(linkTarget(successor)).toBe(successor);
  });
});
