// Accept as a carrier: weights, exclusions, open ranges, and the media type of the response.
import { describe, expect, it } from 'vitest';
import { RecordFields } from '../../gateway/exchange/request-view.ts';
import { readPreferences, wantedTemplate } from '../../gateway/policy/versioning/accept.ts';
import { readEvidence } from '../../gateway/policy/versioning/readers.ts';
import { createResolutionRules } from '../../gateway/policy/versioning/rules.ts';
import { isV1, mediaTypes, NAME, n, PARAMETER, resolve, strict, told, v } from './negotiated-versions.ts';

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
      'NEG-1: text inside quotes is not a member',
      `application/vnd.acme+json; x=", ${v('v2')}, "; version="1";q=0.9`,
      'v1 by accept',
    ],
    ['NEG-1: names in any case', 'Application/VND.Acme+JSON; Version=1', 'v1 by accept'],
    ['NEG-1: whitespace around everything', `\t ${v('v1')} ;\tq=0.5 , ,text/html;q=0.1`, 'v1 by accept'],
    ['NEG-1: empty members', `,, ${v('v1')} ,`, 'v1 by accept'],
    ['NEG-2: a missing weight counts as 1', `${v('v2')};q=0.9, ${v('v1')}`, 'v1 by accept'],
    [
      'NEG-2: the weight before another parameter',
      `application/vnd.acme+json;q=0.9;version=2, ${n('1')}`,
      'v1 by accept',
    ],
    ['NEG-2: an invalid weight drops its member', `${v('v1')};q=2, ${v('v2')};q=0.1`, 'v2 by accept'],
    ['NEG-2: four decimals are too many', `${v('v1')};q=0.9999, ${v('v2')};q=0.1`, 'v2 by accept'],
    ['NEG-2: three decimals count', `${v('v1')};q=0.501, ${v('v2')};q=0.5`, 'v1 by accept'],
    ['NEG-3: the highest weight wins', `${v('v1')};q=0.5, ${v('v2')}`, 'v2 by accept'],
    ['NEG-3: an unknown version falls through', `${v('v3')}, ${v('v1')};q=0.9`, 'v1 by accept'],
    ['NEG-3: an unreleased version falls through', `${v('v9')}, ${v('v1')};q=0.9`, 'v1 by accept'],
    ['NEG-3: a malformed version falls through', `${v('v01')}, ${v('v1')};q=0.9`, 'v1 by accept'],
    ['NEG-3: an ended version falls through', `${v('v0')}, ${v('v1')};q=0.5`, 'v1 by accept'],
    ['NEG-3: of equal weights the served version', `${v('v0')}, ${n('1')}`, 'v1 by accept'],
    ['NEG-3: an ended version falls through to a wildcard', `${v('v0')}, */*;q=0.1`, 'v2 by default'],
    ['NEG-3: a sole ended version resolves', v('v0'), 'v0 by accept'],
    [
      'NEG-3: a sole ended version beside an unknown one resolves',
      `${v('v7')}, ${v('v0')};q=0.1`,
      'v0 by accept',
    ],
    ['NEG-3: weight 0 excludes', `${v('v2')};q=0, */*`, 'v1 by accept'],
    [
      'NEG-3: weight 0 excludes a version that another member names',
      `${n('2')};q=0, ${v('v2')}, ${v('v1')};q=0.1`,
      'v1 by accept',
    ],
    ['NEG-3: an excluded version that is not the default', `${v('v1')};q=0, */*`, 'v2 by default'],
    ['NEG-3: an unknown version with weight 0 gets the default', `${v('v7')};q=0`, 'v2 by default'],
    ['NEG-3: any type accepts the default', '*/*', 'v2 by default'],
    ['NEG-3: a type without a version accepts the default', 'application/vnd.acme+json', 'v2 by default'],
    ['NEG-3: no Accept field', undefined, 'v2 by default'],
    ['an empty list', '', 'v2 by default'],
    ['a wildcard after an unknown version accepts the default', `${v('v7')}, */*;q=0.1`, 'v2 by default'],
    ['a wildcard ranked above a version', `*/*, ${v('v1')};q=0.5`, 'v2 by default'],
    ['NEG-3: a named version is more specific than any type', `*/*, ${v('v1')}`, 'v1 by accept'],
    ['NEG-4: of equal weights the higher version', `${v('v2')}, ${v('v1')}`, 'v2 by accept'],
    ['NEG-4: of equal weights the higher version, in either order', `${v('v1')}, ${n('2')}`, 'v2 by accept'],
    ['a sole unknown value is refused', v('v7'), 'version_unknown v7'],
    ['a sole unknown value in quotes is refused', n('"7"'), 'version_unknown 7'],
    ['several unknown values: the best is named', `${v('v8')};q=0.1, ${v('v7')}`, 'version_unknown v7'],
    ['VER-1: a leading zero is malformed', v('v01'), 'version_malformed v01'],
    ['VER-1: a name needs the v', v('1'), 'version_malformed 1'],
    ['VER-1: words are malformed as a parameter', n('latest'), 'version_malformed latest'],
    ['another type of the vendor leaves the version open', v('orders'), 'v2 by default'],
    ['another type of the vendor with a version of its own', v('events.v1'), 'v2 by default'],
    ['another type of the vendor that begins like a version', v('vm'), 'v2 by default'],
    ['another type of the vendor beside a version', `${v('orders')}, ${v('v1')};q=0.1`, 'v2 by default'],
    ['VER-1: a version in a word', v('version-1'), 'version_malformed version-1'],
    ['VER-1: an unknown word', v('vx'), 'version_malformed vx'],
    ['VER-1: a letter alone', v('v'), 'version_malformed v'],
    ['VER-1: a number below zero', v('v-1'), 'version_malformed v-1'],
    ['VER-1: an empty version', v(''), 'version_malformed '],
    ['VER-1: another suffix', 'application/vnd.acme.v1+xml', 'version_malformed application/vnd.acme.v1+xml'],
    ['VER-1: another main type', 'text/vnd.acme.v1+json', 'version_malformed text/vnd.acme.v1+json'],
    ['VER-1: no main type', 'vnd.acme.v1+json', 'version_malformed vnd.acme.v1+json'],
    ['a type of the vendor with another main type', 'image/vnd.acme.thumb', 'v2 by default'],
    ['VER-1: no suffix', 'application/vnd.acme.v1', 'version_malformed application/vnd.acme.v1'],
    ['VER-1: characters after it', `${v('v1')}x`, `version_malformed ${v('v1')}x`],
    [
      'VER-1: another separator',
      'application/vnd.acme-v1+json',
      'version_malformed application/vnd.acme-v1+json',
    ],
    ['VER-1: an invalid media range', `${v('v1')} x`, `version_malformed ${v('v1')} x`],
    [
      'VER-1: a quote without an end hides nothing',
      `text/html;x=", ${v('v1')}`,
      `version_malformed text/html;x=", ${v('v1')}`,
    ],
    ['VER-1: a parameter without a value', 'application/vnd.acme+json;version', 'version_malformed version'],
    ['VER-1: a parameter whose quote has no end', n('"1'), 'version_malformed version="1'],
    ['VER-1: characters after a quoted parameter', n('"1"2'), 'version_malformed version="1"2'],
    [
      'VER-1: a number without its equals sign',
      'application/vnd.acme+json;version1',
      'version_malformed version1',
    ],
    ['VER-1: an index', 'application/vnd.acme+json;version[]=1', 'version_malformed version[]=1'],
    [
      'VER-1: a missing semicolon',
      'application/vnd.acme+json version=1',
      'version_malformed application/vnd.acme+json version=1',
    ],
    [
      'VER-1: a parameter on another suffix',
      'application/vnd.acme+xml;version=1',
      'version_malformed application/vnd.acme+xml;version=1',
    ],
    ['NEG-2: a weight above 1', `${v('v1')};q=1.5`, `version_malformed ${v('v1')};q=1.5`],
    ['NEG-2: a weight that is no number', `${n('1')};q=x`, `version_malformed ${n('1')};q=x`],
    ['NEG-2: a weight without a value', `${v('v1')};q`, `version_malformed ${v('v1')};q`],
    ['NEG-2: two weights', `${v('v1')};q=0;q=1`, `version_malformed ${v('v1')};q=0;q=1`],
    [
      'NEG-2: an invalid weight of a type without a version',
      'application/vnd.acme+json;q=7',
      'v2 by default',
    ],
    [
      'NEG-2: the other members decide beside a malformed one',
      `${v('v1')};q=7, ${v('vx')}, ${v('v2')};q=0.1`,
      'v2 by accept',
    ],
    [
      'NEG-2: any type beside a malformed member accepts the default',
      `${v('v1+xml')}, */*;q=0.1`,
      'v2 by default',
    ],
    ['a type of another vendor', 'application/vnd.acmetools+json', 'v2 by default'],
    ['a parameter that carries no version', 'application/vnd.acme+json;profile="version 1"', 'v2 by default'],
    ['anchored: version=11 is not version=1', n('11'), 'version_unknown 11'],
    ['a member that is not a media range', `${v('v1')} x, ${v('v2')};q=0.1`, 'v2 by accept'],
    ['NEG-8: everything served excluded', `${v('v1')};q=0, ${v('v2')};q=0`, 'version_unacceptable'],
    [
      'NEG-8: everything served excluded, beside any type',
      `${v('v1')};q=0, ${v('v2')};q=0, */*`,
      'version_unacceptable',
    ],
    ['NEG-8: nothing at all is acceptable', '*/*;q=0', 'version_unacceptable'],
    [
      'NEG-8: any type excluded, and the listed version too',
      `${v('v1')};q=0, */*;q=0`,
      'version_unacceptable',
    ],
    ['only a version', `*/*;q=0, ${v('v1')}`, 'v1 by accept'],
    ['only an unknown version', `${v('v7')}, */*;q=0`, 'version_unknown v7'],
    ['only an ended version', `${v('v0')}, */*;q=0`, 'v0 by accept'],
    ['only a type without a version', 'application/json, */*;q=0', 'v2 by default'],
    ['excluded types without a version get the default', 'text/html;q=0, application/*;q=0', 'v2 by default'],
  ])('%s', (_name, accept, outcome) => {
    expect(told(resolve(accept === undefined ? {} : { accept }))).toBe(outcome);
  });

  it.each([
    ['an ended version with the highest weight agrees', 'v0', `${v('v0')}, ${v('v1')};q=0.5`, 'v0 by path'],
    ['the served version after it agrees', 'v1', `${v('v0')}, ${v('v1')};q=0.5`, 'v1 by path'],
    ['a version that is not listed differs', 'v2', `${v('v0')}, ${v('v1')};q=0.5`, 'v2 against v0'],
    [
      'a version with a lower weight than a served one differs',
      'v1',
      `${v('v2')}, ${v('v1')};q=0.5`,
      'v1 against v2',
    ],
    ['one of two versions of equal weight agrees', 'v1', `${v('v2')}, ${v('v1')}`, 'v1 by path'],
    [
      'one of two versions of equal weight agrees, in either order and form',
      'v1',
      `${n('1')};q=0.5, ${v('v2')};q=0.5`,
      'v1 by path',
    ],
    ['an ended one of two versions of equal weight agrees', 'v0', `${v('v2')}, ${v('v0')}`, 'v0 by path'],
    ['a version beside two others of equal weight differs', 'v0', `${v('v2')}, ${v('v1')}`, 'v0 against v2'],
  ])('VER-3: beside a version in the path, %s', (_name, pathSegment, accept, outcome) => {
    expect(told(resolve({ accept, pathSegment }))).toBe(outcome);
  });

  it.each([
    ['a version after a wildcard is used without a default', `*/*, ${v('v1')};q=0.5`, 'v1 by accept'],
    ['any type names no version', '*/*', 'version_missing'],
    ['a plain type names no version', 'application/json', 'version_missing'],
    ['NEG-8: everything served excluded', `${v('v1')};q=0, ${v('v2')};q=0, */*`, 'version_unacceptable'],
    ['NEG-8: nothing at all is acceptable', '*/*;q=0', 'version_unacceptable'],
    ['any type beside an ended version gives the ended version', `${v('v0')}, */*;q=0.1`, 'v0 by accept'],
    ['weight 0 gives the newest other version', `${v('v2')};q=0, */*`, 'v1 by accept'],
  ])('without a default, %s', (_name, accept, outcome) => {
    expect(told(resolve({ accept }, strict))).toBe(outcome);
  });

  it('VER-3: the negotiated version must equal the one in the path', () => {
    expect(told(resolve({ pathSegment: 'v1', accept: v('v2') }))).toBe('v1 against v2');
    expect(told(resolve({ pathSegment: 'v1', accept: `${v('v7')}, ${v('v1')};q=0.1` }))).toBe('v1 by path');
    expect(told(resolve({ pathSegment: 'v1', accept: `*/*, ${v('v2')};q=0.5` }))).toBe('v1 by path');
    expect(told(resolve({ pathSegment: 'v1', accept: v('v7') }))).toBe('v1 against v7');
  });

  it.each(['*/*;q=0', `${v('v1')};q=0, ${v('v2')};q=0`])(
    'VER-3: a version that %s excludes is served if the path names it',
    (accept) => expect(told(resolve({ accept, pathSegment: 'v1' }))).toBe('v1 by path'),
  );

  it('VER-2: is ignored if no media type carries versions', () => {
    const pathOnly = createResolutionRules({ labels: ['v1'], header: undefined, default: undefined });
    const input = { method: 'GET', pathSegment: undefined, subdomain: undefined, tail: '', search: '' };
    const headers = new RecordFields({ accept: v('v1') });
    expect(readEvidence(pathOnly, { ...input, headers }).preferences).toEqual([]);
  });

  it('reads the weight of each member, and accepts the default for each member without a version', () => {
    const table =
      'text/*;q=0.3, text/plain;q=0.7, text/plain;format=flowed, text/plain;format=fixed;q=0.4, */*;q=0.5';
    const preferences = readPreferences(mediaTypes, new RecordFields({ accept: table }));
    expect(preferences.map(({ weight }) => weight)).toEqual([300, 700, 1000, 400, 500]);
    expect(preferences.every(({ claim }) => claim === undefined)).toBe(true);
  });
});

describe('the media type of the response', () => {
  it.each([
    ['the one that names the version', v('v1'), NAME],
    ['the one with the higher weight', `${v('v1')};q=0.5, ${n('1')}`, PARAMETER],
    ['the first of two with one weight', `${n('1')}, ${v('v1')}`, PARAMETER],
    ['not one for another version', `${v('v2')}, ${n('1')};q=0.1`, PARAMETER],
    ['the one with the weight of a type without a version', `*/*, ${v('v1')}`, NAME],
    ['none with a lower weight than a type without a version', `*/*, ${v('v1')};q=0.9`, undefined],
    ['none that is excluded', `${v('v1')};q=0`, undefined],
    ['none if no type names the version', 'application/json', undefined],
  ])('NEG-5: is %s', (_what, accept, form) => {
    expect(wantedTemplate(mediaTypes, accept, isV1)).toBe(form);
  });
});
