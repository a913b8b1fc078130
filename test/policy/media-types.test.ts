// Media types as carriers: Content-Type, templates, and the types that the upstream gets.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecordFields } from '../../gateway/exchange/request-view.ts';
import { plainAccept, readPreferences, wantedTemplate } from '../../gateway/policy/versioning/accept.ts';
import {
  acceptableTypes,
  answeredType,
  parseMediaType,
  parseTemplate,
  plainType,
} from '../../gateway/policy/versioning/media-type.ts';
import { createResolutionRules } from '../../gateway/policy/versioning/rules.ts';
import {
  isV1,
  mediaTypes,
  NAME,
  n,
  options,
  resolve,
  strict,
  template,
  told,
  v,
} from './negotiated-versions.ts';

describe('Content-Type', () => {
  it.each([
    ['claims its version on a write', { type: v('v1') }, 'v1 by content_type'],
    ['with other parameters', { type: `${v('v1')}; charset=utf-8` }, 'v1 by content_type'],
    ['NEG-6: unknown', { type: v('v7') }, 'version_unknown v7'],
    ['NEG-6: malformed', { type: v('v01') }, 'version_malformed v01'],
    ['NEG-6: differing from the path', { type: v('v2'), pathSegment: 'v1' }, 'v1 against v2'],
    ['NEG-6: differing from Accept', { type: v('v2'), accept: v('v1') }, 'v2 against v1'],
    ['agreeing with Accept', { type: n('1'), accept: v('v1') }, 'v1 by content_type'],
    ['a plain type names no version', { type: 'application/json' }, 'v2 by default'],
    [
      'a media type without its version names no version',
      { type: 'application/vnd.acme+json' },
      'v2 by default',
    ],
    ['NEG-6: two types', { type: `${v('v1')}, ${v('v1')}` }, `version_malformed ${v('v1')}, ${v('v1')}`],
    ['NEG-6: a second type', { type: `text/html, ${v('v1')}` }, `version_malformed text/html, ${v('v1')}`],
    ['NEG-6: a trailing comma', { type: `${v('v1')},` }, `version_malformed ${v('v1')},`],
    ['NEG-6: another suffix', { type: `${v('v1')}x` }, `version_malformed ${v('v1')}x`],
    ['NEG-6: a word', { type: v('vx') }, 'version_malformed vx'],
    [
      'NEG-6: a parameter without a value',
      { type: 'application/vnd.acme+json;version' },
      'version_malformed version',
    ],
  ])('%s', (_name, request, outcome) => {
    expect(told(resolve({ method: 'POST', ...request }))).toBe(outcome);
  });

  it('is ignored for methods without a body', () => {
    expect(told(resolve({ type: v('v1') }))).toBe('v2 by default');
  });

  it('NEG-8: a refusal lists the accepted types', () => {
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

describe('VER-3: one media type with two versions', () => {
  const rows: readonly (readonly [name: string, type: string, outcome: string])[] = [
    ['a parameter twice', `${n('1')};version=2`, '1 against 2'],
    ['in another case', `${n('1')};VERSION=2`, '1 against 2'],
    ['in quotes', `${n('"1"')} ; version = "2"`, '1 against 2'],
    ['a third time only', `${n('1')};version=1;version=2`, '1 against 2'],
    ['with an unknown version', `${n('1')};version=7`, '1 against 7'],
    ['with an empty version', `${n('1')};version=`, '1 against '],
    ['the name against the parameter', `${v('v1')};version=2`, 'v1 against 2'],
    ['the name against the second parameter', `${v('v1')};version=1;version=2`, 'v1 against 2'],
    ['after a quoted string with a semicolon', `${n('1')};x=";a=\\";b";version=2`, '1 against 2'],
    ['after a quote inside a value', `${n('1')};x=a=";version=1;version=2`, '1 against 2'],
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
  ])('names one version: %s', (_name, type) => {
    expect(told(resolve({ accept: type }))).toBe('v1 by accept');
    expect(told(resolve({ method: 'POST', type }))).toBe('v1 by content_type');
  });

  it('VER-2: a parameter carries no version if no template has one', () => {
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
  ])('%s has the plain type %s', (text, plain) => {
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
  ])('%j is not a template', (text) => {
    expect(parseTemplate(text)).toBeUndefined();
  });
});

describe('VER-9: the upstream gets plain types', () => {
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
    [`${v('vx')}, application/vnd.acme.v1, application/vnd.acme+json;version[]=1, */*`, '*/*'],
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

describe('any request', () => {
  it('resolution never throws and serves only released versions', () => {
    fc.assert(
      fc.property(fc.constantFrom('GET', 'POST'), hostile, hostile, (method, accept, type) => {
        const resolution = resolve({ method, accept, type });
        if (resolution.kind === 'resolved') expect(['v0', 'v1', 'v2']).toContain(resolution.label);
      }),
    );
  });

  it('NEG-5: a rewritten type names the resolved version when parsed again', () => {
    fc.assert(
      fc.property(hostile, hostile, (accept, sent) => {
        const form = wantedTemplate(mediaTypes, accept, () => true);
        const type = form && answeredType(form, 'v2', sent);
        if (type === undefined) return;
        expect(type).toMatch(/^[\x20-\x7e]+$/);
        expect(told(resolve({ accept: type }, strict))).toBe('v2 by accept');
      }),
    );
  });

  it("VER-9: the upstream's types name no version when parsed again", () => {
    fc.assert(
      fc.property(hostile, (accept) => {
        const plain = plainAccept(mediaTypes, accept, () => true);
        const again =
          plain === undefined ? [] : readPreferences(mediaTypes, new RecordFields({ accept: plain }));
        expect(again.filter(({ claim }) => claim !== undefined)).toEqual([]);
      }),
    );
  });
});
