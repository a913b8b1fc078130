// Media types as carriers: what `Accept` prefers, what `Content-Type` claims, and what an upstream sees of both.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainAccept, readPreferences, wantedForm } from '../../gateway/policy/versioning/accept.ts';
import {
  acceptableTypes,
  answeredType,
  parseMediaType,
  parseTemplate,
  plainType,
} from '../../gateway/policy/versioning/media-type.ts';
import { readEvidence } from '../../gateway/policy/versioning/readers.ts';
import type { MediaTemplate, Resolution } from '../../gateway/policy/versioning/resolution.ts';
import { resolveVersion } from '../../gateway/policy/versioning/resolve.ts';
import { createResolutionRules } from '../../gateway/policy/versioning/rules.ts';

const template = (text: string): MediaTemplate => {
  const parsed = parseTemplate(text);
  if (parsed === undefined) throw new Error(text);
  return parsed;
};
const NAME = template('application/vnd.acme.{version}+json');
const PARAMETER = template('application/vnd.acme+json; version={n}');
const mediaTypes = [NAME, PARAMETER];

const options = { labels: ['v0', 'v1', 'v2', 'v9'], header: undefined, mediaTypes };
const rules = createResolutionRules({ ...options, default: 'v2' });
const strict = createResolutionRules({ ...options, default: undefined });
const isReleased = (label: string) => label !== 'v9';
/** v0 has ended. */
const isServed = (label: string) => label !== 'v0' && isReleased(label);
const moment = { now: Date.UTC(2026, 10, 20), isReleased, isServed, mayAnswer: isServed };

interface Request {
  readonly accept?: string;
  readonly type?: string;
  readonly method?: string;
  readonly pathSegment?: string;
}

function resolve({ accept, type, method = 'GET', pathSegment }: Request, by = rules): Resolution {
  const headers = { accept, 'content-type': type };
  const evidence = readEvidence(by, { method, pathSegment, subdomain: undefined, search: '', headers });
  return resolveVersion(by, evidence, moment);
}

/** `v1 by accept`, or `version_unknown v7`. */
function told(resolution: Resolution): string {
  if (resolution.kind === 'resolved') return `${resolution.label} by ${resolution.carrier}`;
  if (resolution.kind === 'open') return 'open';
  const { refusal } = resolution;
  if (refusal.reason === 'version_ambiguous')
    return refusal.claims.map(({ value }) => value).join(' against ');
  return 'claim' in refusal ? `${refusal.reason} ${refusal.claim.value}` : refusal.reason;
}

const v = (version: string) => `application/vnd.acme.${version}+json`;
const n = (version: string) => `application/vnd.acme+json;version=${version}`;
const isV1 = ({ value }: { readonly value: string }) => value === 'v1' || value === '1';

describe('Accept', () => {
  it.each([
    ['the version in the name', v('v1'), 'v1 by accept'],
    ['the version in the parameter', n('1'), 'v1 by accept'],
    ['NEG-1: a quoted parameter', n('"1"'), 'v1 by accept'],
    ['NEG-1: an escape inside quotes', n('"\\1"'), 'v1 by accept'],
    [
      'NEG-1: commas and semicolons inside quotes',
      'application/vnd.acme+json; x="a,b;c"; version="1"',
      'v1 by accept',
    ],
    [
      'NEG-1: what stands inside quotes is no member',
      `application/vnd.acme+json; x=", ${v('v2')}, "; version="1";q=0.9`,
      'v1 by accept',
    ],
    ['NEG-1: names in any case', 'Application/VND.Acme+JSON; Version=1', 'v1 by accept'],
    ['NEG-1: blanks around everything', `\t ${v('v1')} ;\tq=0.5 , ,text/html;q=0.1`, 'v1 by accept'],
    ['NEG-1: empty members', `,, ${v('v1')} ,`, 'v1 by accept'],
    ['NEG-2: no weight is 1', `${v('v2')};q=0.9, ${v('v1')}`, 'v1 by accept'],
    [
      'NEG-2: the weight wherever it stands',
      `application/vnd.acme+json;q=0.9;version=2, ${n('1')}`,
      'v1 by accept',
    ],
    [
      'NEG-2: a weight that is none takes its member away',
      `${v('v1')};q=2, ${v('v2')};q=0.1`,
      'v2 by accept',
    ],
    ['NEG-2: four decimals are too many', `${v('v1')};q=0.9999, ${v('v2')};q=0.1`, 'v2 by accept'],
    ['NEG-2: three decimals count', `${v('v1')};q=0.501, ${v('v2')};q=0.5`, 'v1 by accept'],
    ['NEG-3: the highest weight wins', `${v('v1')};q=0.5, ${v('v2')}`, 'v2 by accept'],
    ['NEG-3: an unknown version falls through', `${v('v3')}, ${v('v1')};q=0.9`, 'v1 by accept'],
    ['NEG-3: an unreleased version falls through', `${v('v9')}, ${v('v1')};q=0.9`, 'v1 by accept'],
    ['NEG-3: a malformed version falls through', `${v('v01')}, ${v('v1')};q=0.9`, 'v1 by accept'],
    ['NEG-3: an ended version falls through', `${v('v0')}, ${v('v1')};q=0.5`, 'v1 by accept'],
    ['NEG-3: of equal weights the one that is served', `${v('v0')}, ${n('1')}`, 'v1 by accept'],
    ['NEG-3: an ended version falls through to whatever there is', `${v('v0')}, */*;q=0.1`, 'v2 by default'],
    ['NEG-3: alone it is named, to be told its end', v('v0'), 'v0 by accept'],
    ['NEG-3: beside unknown ones too', `${v('v7')}, ${v('v0')};q=0.1`, 'v0 by accept'],
    ['NEG-3: weight 0 excludes', `${v('v2')};q=0, */*`, 'v1 by accept'],
    [
      'NEG-3: weight 0 excludes what another member asks for',
      `${n('2')};q=0, ${v('v2')}, ${v('v1')};q=0.1`,
      'v1 by accept',
    ],
    ['NEG-3: what is excluded need not be the default', `${v('v1')};q=0, */*`, 'v2 by default'],
    ['NEG-3: weight 0 asks for nothing, known or not', `${v('v7')};q=0`, 'v2 by default'],
    ['NEG-3: any type is consent to the default', '*/*', 'v2 by default'],
    ['NEG-3: a type without a version, too', 'application/vnd.acme+json', 'v2 by default'],
    ['NEG-3: no list', undefined, 'v2 by default'],
    ['an empty list', '', 'v2 by default'],
    ['a listed wildcard behind an unknown version is consent', `${v('v7')}, */*;q=0.1`, 'v2 by default'],
    ['a wildcard ranked above a version', `*/*, ${v('v1')};q=0.5`, 'v2 by default'],
    ['NEG-3: a named version is more specific than any type', `*/*, ${v('v1')}`, 'v1 by accept'],
    ['NEG-4: of equal weights the higher version', `${v('v2')}, ${v('v1')}`, 'v2 by accept'],
    ['NEG-4: in either order', `${v('v1')}, ${n('2')}`, 'v2 by accept'],
    ['a sole unknown value is refused', v('v7'), 'version_unknown v7'],
    ['an unknown value behind quotes, too', n('"7"'), 'version_unknown 7'],
    ['several unknown values: the best is named', `${v('v8')};q=0.1, ${v('v7')}`, 'version_unknown v7'],
    ['VER-1: a leading zero is malformed', v('v01'), 'version_malformed v01'],
    ['VER-1: in a name the v is needed', v('1'), 'version_malformed 1'],
    ['VER-1: words are malformed as a parameter', n('latest'), 'version_malformed latest'],
    ['a name that is no attempt at a version', v('orders'), 'v2 by default'],
    ['a name that only starts like ours', `${v('v1')}x`, 'v2 by default'],
    ['anchored: version=11 is not version=1', n('11'), 'version_unknown 11'],
    ['a member that is no media range', `${v('v1')} x, ${v('v2')};q=0.1`, 'v2 by accept'],
    ['NEG-8: everything served excluded', `${v('v1')};q=0, ${v('v2')};q=0`, 'version_unacceptable'],
    ['NEG-8: and any type besides', `${v('v1')};q=0, ${v('v2')};q=0, */*`, 'version_unacceptable'],
    ['NEG-8: nothing at all is acceptable', '*/*;q=0', 'version_unacceptable'],
    ['NEG-8: nothing but what is listed, which excludes', `${v('v1')};q=0, */*;q=0`, 'version_unacceptable'],
    ['nothing but a version', `*/*;q=0, ${v('v1')}`, 'v1 by accept'],
    ['nothing but an unknown version', `${v('v7')}, */*;q=0`, 'version_unknown v7'],
    ['nothing but an ended version', `${v('v0')}, */*;q=0`, 'v0 by accept'],
    ['nothing but a type that leaves it open', 'application/json, */*;q=0', 'v2 by default'],
    ['some types excluded say nothing of versions', 'text/html;q=0, application/*;q=0', 'v2 by default'],
  ])('%s', (_name, accept, outcome) => {
    expect(told(resolve(accept === undefined ? {} : { accept }))).toBe(outcome);
  });

  it.each([
    ['an ended version it likes best agrees', 'v0', `${v('v0')}, ${v('v1')};q=0.5`, 'v0 by path'],
    ['and so does what it would take instead', 'v1', `${v('v0')}, ${v('v1')};q=0.5`, 'v1 by path'],
    ['a third one differs', 'v2', `${v('v0')}, ${v('v1')};q=0.5`, 'v2 against v0'],
    ['what is served is not passed over', 'v1', `${v('v2')}, ${v('v1')};q=0.5`, 'v1 against v2'],
  ])('VER-3: beside a version in the path, %s', (_name, pathSegment, accept, outcome) => {
    expect(told(resolve({ accept, pathSegment }))).toBe(outcome);
  });

  it.each([
    ['a version behind a wildcard serves where there is no default', `*/*, ${v('v1')};q=0.5`, 'v1 by accept'],
    ['any type says nothing', '*/*', 'version_missing'],
    ['a plain type says nothing', 'application/json', 'version_missing'],
    ['NEG-8: everything served excluded', `${v('v1')};q=0, ${v('v2')};q=0, */*`, 'version_unacceptable'],
    ['NEG-8: nothing at all is acceptable', '*/*;q=0', 'version_unacceptable'],
    ['any type beside an ended version leads to its end', `${v('v0')}, */*;q=0.1`, 'v0 by accept'],
    ['weight 0 leaves the newest other version', `${v('v2')};q=0, */*`, 'v1 by accept'],
  ])('without a default, %s', (_name, accept, outcome) => {
    expect(told(resolve({ accept }, strict))).toBe(outcome);
  });

  it('VER-3: negotiation ends in one version, which must be the one in the path', () => {
    expect(told(resolve({ pathSegment: 'v1', accept: v('v2') }))).toBe('v1 against v2');
    expect(told(resolve({ pathSegment: 'v1', accept: `${v('v7')}, ${v('v1')};q=0.1` }))).toBe('v1 by path');
    expect(told(resolve({ pathSegment: 'v1', accept: `*/*, ${v('v2')};q=0.5` }))).toBe('v1 by path');
    expect(told(resolve({ pathSegment: 'v1', accept: v('v7') }))).toBe('v1 against v7');
  });

  it.each(['*/*;q=0', `${v('v1')};q=0, ${v('v2')};q=0`])(
    'VER-3: what %s excludes is served all the same where the path insists on it',
    (accept) => expect(told(resolve({ accept, pathSegment: 'v1' }))).toBe('v1 by path'),
  );

  it('VER-2: is not read where no media type carries versions', () => {
    expect(readPreferences([], { accept: v('v1') })).toEqual([]);
  });

  it('gives each member of the quality table its own weight, and consent to all that name no version', () => {
    const table =
      'text/*;q=0.3, text/plain;q=0.7, text/plain;format=flowed, text/plain;format=fixed;q=0.4, */*;q=0.5';
    const preferences = readPreferences(mediaTypes, { accept: table });
    expect(preferences.map(({ weight }) => weight)).toEqual([300, 700, 1000, 400, 500]);
    expect(preferences.every(({ claim }) => claim === undefined)).toBe(true);
  });
});

describe('Content-Type', () => {
  it.each([
    ['claims its version on a write', { type: v('v1') }, 'v1 by content_type'],
    ['with other parameters', { type: `${v('v1')}; charset=utf-8` }, 'v1 by content_type'],
    ['NEG-6: unknown', { type: v('v7') }, 'version_unknown v7'],
    ['NEG-6: malformed', { type: v('v01') }, 'version_malformed v01'],
    ['NEG-6: differing from the path', { type: v('v2'), pathSegment: 'v1' }, 'v1 against v2'],
    ['NEG-6: differing from Accept', { type: v('v2'), accept: v('v1') }, 'v2 against v1'],
    ['agreeing with Accept', { type: n('1'), accept: v('v1') }, 'v1 by content_type'],
    ['a plain type says nothing', { type: 'application/json' }, 'v2 by default'],
  ])('%s', (_name, request, outcome) => {
    expect(told(resolve({ method: 'POST', ...request }))).toBe(outcome);
  });

  it('says nothing where there is no body to type', () => {
    expect(told(resolve({ type: v('v1') }))).toBe('v2 by default');
  });

  it('NEG-8: a refusal lists what would have been taken', () => {
    expect(acceptableTypes(mediaTypes, ['v2', 'v1.2.0'])).toBe(
      [
        v('v2'),
        v('v1.2.0'),
        'application/vnd.acme+json; version=2',
        'application/vnd.acme+json; version=1.2.0',
      ].join(', '),
    );
  });
});

describe('VER-3: one media type that says two things of its version', () => {
  const rows: readonly (readonly [name: string, type: string, outcome: string])[] = [
    ['a parameter twice', `${n('1')};version=2`, '1 against 2'],
    ['in another case', `${n('1')};VERSION=2`, '1 against 2'],
    ['in quotes', `${n('"1"')} ; version = "2"`, '1 against 2'],
    ['a third time only', `${n('1')};version=1;version=2`, '1 against 2'],
    ['with an unknown version', `${n('1')};version=7`, '1 against 7'],
    ['with an empty one', `${n('1')};version=`, '1 against '],
    ['the name against the parameter', `${v('v1')};version=2`, 'v1 against 2'],
    ['the name against the second parameter', `${v('v1')};version=1;version=2`, 'v1 against 2'],
    ['behind a quote that holds a semicolon', `${n('1')};x=";a=\\";b";version=2`, '1 against 2'],
    ['behind a quote inside a value', `${n('1')};x=a=";version=1;version=2`, '1 against 2'],
  ];

  it.each(rows)('%s in Accept', (_name, accept, outcome) => {
    expect(told(resolve({ accept }))).toBe(outcome);
    expect(told(resolve({ accept: `${v('v2')}, ${accept};q=0.1` }))).toBe(outcome);
    expect(told(resolve({ accept, pathSegment: 'v1' }))).toBe(outcome);
  });

  it.each(rows)('%s in Content-Type', (_name, type, outcome) => {
    expect(told(resolve({ method: 'POST', type }))).toBe(outcome);
  });

  it.each([
    ['the same twice', `${n('1')};version=1`],
    ['the same in both spellings', `${n('1')};version=v1`],
    ['the name and the parameter', `${v('v1')};version=1`],
    ['another parameter twice', `${n('1')};x=1;x=2`],
    ['a value that only looks like one', `${n('1')};x="version=2;version=3"`],
    ['a parameter whose name only contains it', `${n('1')};api-version=2`],
  ])('says one: %s', (_name, type) => {
    expect(told(resolve({ accept: type }))).toBe('v1 by accept');
    expect(told(resolve({ method: 'POST', type }))).toBe('v1 by content_type');
  });

  it('VER-2: a parameter is no carrier where no template has one', () => {
    const byName = createResolutionRules({ ...options, mediaTypes: [NAME], default: 'v2' });
    expect(told(resolve({ accept: `${v('v1')};version=2` }, byName))).toBe('v1 by accept');
  });
});

describe('templates', () => {
  it.each([
    ['application/vnd.acme.{version}+json', 'application/json'],
    ['application/vnd.acme-api.v{n}+xml', 'application/xml'],
    ['application/vnd.acme+json; version={n}', 'application/json'],
    ['application/json;v={version}', 'application/json'],
  ])('%s is plainly %s', (text, plain) => {
    expect(template(text).plain).toBe(plain);
  });

  it.each([
    'application/vnd.acme.v1+json',
    'application/{version}+json',
    'application/vnd.acme.{version}',
    'application/vnd.acme{version}+json',
    'Application/vnd.acme.{version}+json',
    'application/vnd.acme+json; q={n}',
    'application/vnd.acme.{version}+json; version={n}',
    '*/*; version={n}',
    '',
  ])('%j is none', (text) => {
    expect(parseTemplate(text)).toBeUndefined();
  });
});

describe('VER-9: the upstream sees plain types', () => {
  it.each([
    [v('v1'), 'application/json'],
    [`${v('v1')};q=0.5`, 'application/json; q=0.5'],
    [`${v('v7')}, ${n('1')};charset=utf-8;q=0.9`, 'application/json; charset=utf-8; q=0.9'],
    [`${v('v2')}, text/html;q=0.8,*/*`, 'text/html;q=0.8, */*'],
    [`${v('v1')};q=0, */*`, '*/*'],
    [v('v2'), undefined],
    ['text/html;level="a,b"', 'text/html; level="a,b"'],
    [`text/html;x="${v('v2')}`, 'text/html'],
    [`${v('v1')} x, */*`, '*/*'],
    [`${v('v1')};a b=1;=2;c="\u0001";d=3`, 'application/json; d=3'],
  ])('%s as %s', (accept, plain) => {
    expect(plainAccept(mediaTypes, accept, isV1)).toBe(plain);
  });

  it.each([
    [`${v('v1')}; charset="utf-8"`, 'application/json; charset=utf-8'],
    ['application/vnd.acme+json;version=1;x="a b"', 'application/json; x="a b"'],
    [`${v('v1')};version=2`, 'application/json'],
  ])('the content %s as %s', (type, plain) => {
    expect(plainType(mediaTypes, parseMediaType(type))).toBe(plain);
  });
});

describe('the form of the answer', () => {
  it.each([
    ['the one that names the version', v('v1'), NAME],
    ['the one with the higher weight', `${v('v1')};q=0.5, ${n('1')}`, PARAMETER],
    ['the first of two with one weight', `${n('1')}, ${v('v1')}`, PARAMETER],
    ['not one for another version', `${v('v2')}, ${n('1')};q=0.1`, PARAMETER],
    ['the one as good as what leaves the version open', `*/*, ${v('v1')}`, NAME],
    ['none behind what leaves it open', `*/*, ${v('v1')};q=0.9`, undefined],
    ['none that is not wanted', `${v('v1')};q=0`, undefined],
    ['none where nothing names it', 'application/json', undefined],
  ])('NEG-5: is %s', (_what, accept, form) => {
    expect(wantedForm(mediaTypes, accept, isV1)).toBe(form);
  });
});

const hostile = fc.oneof(
  fc.string(),
  fc
    .array(
      fc.constantFrom(
        v('v1'),
        v('v2'),
        n('1'),
        n('"1'),
        n('"v2"'),
        '*/*',
        ',',
        ';',
        'q=0',
        'q=',
        '"',
        '\\',
        ' ',
        '=',
        'x/y',
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join('')),
);

describe('whatever a request writes', () => {
  it('resolution never throws and serves only released versions', () => {
    fc.assert(
      fc.property(fc.constantFrom('GET', 'POST'), hostile, hostile, (method, accept, type) => {
        const resolution = resolve({ method, accept, type });
        if (resolution.kind === 'resolved') expect(['v0', 'v1', 'v2']).toContain(resolution.label);
      }),
    );
  });

  it('NEG-5: a rewritten type names the resolved version, read again by the same rules', () => {
    fc.assert(
      fc.property(hostile, hostile, (accept, sent) => {
        const form = wantedForm(mediaTypes, accept, () => true);
        const type = form && answeredType(form, 'v2', sent);
        if (type === undefined) return;
        expect(type).toMatch(/^[\x20-\x7e]+$/);
        expect(told(resolve({ accept: type }, strict))).toBe('v2 by accept');
      }),
    );
  });

  it('VER-9: what is left for the upstream names no version, read again by the same rules', () => {
    fc.assert(
      fc.property(hostile, (accept) => {
        const plain = plainAccept(mediaTypes, accept, () => true);
        const again = plain === undefined ? [] : readPreferences(mediaTypes, { accept: plain });
        expect(again.filter(({ claim }) => claim !== undefined)).toEqual([]);
      }),
    );
  });
});
