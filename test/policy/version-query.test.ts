// A version in the query: reading it, and removing it without changing another byte.

import express from 'express';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ignoredNames,
  lookAlikes,
  parameterValues,
  withoutParameter,
  withParameter,
  withParameterFirst,
} from '../../gateway/policy/versioning/query.ts';
import { fuzz } from '../support/fuzz.ts';

describe('the version parameter', () => {
  it.each([
    ['?version=1', ['1']],
    ['?%76ersion=1', ['1']],
    ['?version=%31', ['1']],
    ['?version=+1', [' 1']],
    ['?version=%201', [' 1']],
    ['?version=', ['']],
    ['?version', ['']],
    ['?version=1&version=2', ['1', '2']],
    ['?Version=1', []],
    ['?version=1;x=2', ['1;x=2']],
    ['?x=version=1', []],
    ['?version=1=2', ['1=2']],
    ['?version=%zz', ['%zz']],
    ['?xversion=1&versionx=1', []],
    ['?', []],
    ['', []],
  ])('VER-4: %j has the values %j', (search, values) => {
    expect(parameterValues(search, 'version')).toEqual(values);
  });

  it.each([
    ['?version=1&x=1', '?x=1'],
    ['?x=1&version=1', '?x=1'],
    ['?a=%2f&%76ersion=1&&b=+&', '?a=%2f&&b=+&'],
    ['?version=1', ''],
    ['?version=1&version=2', ''],
    ['?x=1', '?x=1'],
    ['?', '?'],
    ['', ''],
  ])('VER-8: %j is forwarded as %j', (search, rest) => {
    expect(withoutParameter(search, 'version')).toBe(rest);
  });

  it.each([
    ['', '?version=v1'],
    ['?', '?version=v1'],
    ['?x=1&', '?x=1&&version=v1'],
  ])('is added to %j as %j', (search, whole) => {
    expect(withParameter(search, 'version', 'v1')).toBe(whole);
  });

  it.each(['', '?', '?x=1&', `?${'&'.repeat(1_000)}`, `?${'a&'.repeat(1_000)}`])(
    'VER-9: placed before %j it is read by parsers that stop at 1,000 parameters',
    (search) => {
      const sent = withParameterFirst(search, 'version', 'v1').slice(1);
      for (const parser of ['simple', 'extended'])
        expect(express().set('query parser', parser).get('query parser fn')(sent).version).toBe('v1');
    },
  );

  it('VER-9: removes the parameter and keeps every other byte', () => {
    const pair = fc.constantFrom(
      'version=1',
      '%76ersion=2',
      'version',
      'x=1',
      '',
      'y=%2F',
      'z;version=1',
      '%zz',
    );
    fc.assert(
      fc.property(fc.array(pair, { maxLength: 8 }), (pairs) => {
        const rest = withoutParameter(`?${pairs.join('&')}`, 'version');
        expect(parameterValues(rest, 'version')).toEqual([]);
        const kept = pairs.filter((each) => !/^(version(=|$)|%76ersion)/.test(each));
        expect(rest === '' || rest === '?' ? '' : rest.slice(1)).toBe(kept.join('&'));
      }),
    );
  });
});

describe('VER-4: parameters that a service may read as the version', () => {
  const none = () => false;

  it.each([
    ['?Version=1', ['Version=1']],
    ['?%56ERSION=1', ['%56ERSION=1']],
    ['?version[]=0', ['version[]=0']],
    ['?version%5Bgte%5D=0&x=1', ['version%5Bgte%5D=0']],
    ['?version%00=0', ['version%00=0']],
    ['?version%00x=0', ['version%00x=0']],
    ['?;version=0', ['version=0']],
    ['?x=secret;version=0;y=1', ['version=0']],
    ['?+version=0&version%20=1', ['+version=0', 'version%20=1']],
    ['?%2576ersion=0', ['%2576ersion=0']],
    ['?version%255B%255D=0', ['version%255B%255D=0']],
    ['?ver%C5%BFion=0', ['ver%C5%BFion=0']],
    ['?%EF%BD%96ersion=0', ['%EF%BD%96ersion=0']],
    ['?VERSION', ['VERSION=']],
    ['?version%3D1', ['version%3D1=']],
    ['??version=1', ['?version=1']],
    ['?x=1&amp;version=1', ['version=1']],
    ['?[version]=0&%5Bversion%5Dx=1&[version][]=2', ['[version]=0', '%5Bversion%5Dx=1', '[version][]=2']],
    ['?version.=1&version%2E=2', ['version.=1', 'version%2E=2']],
    ['?x=https://a.example/?version=1', []],
    ['?version=1&version', []],
    [
      '?versions=1&xversion=2&filter[version]=3&version.gte=3&[a][version]=3&_version=4&version_=5&if_version=6',
      [],
    ],
    ['?fields=id;version;name', []],
    ['?q=version=1', []],
    ['?q=%3Bversion=1', []],
    ['', []],
  ])('%j contains %j', (search, found) => {
    expect(lookAlikes(search, 'version', none)).toEqual(found);
  });

  it.each([
    ['?api.version=1', true],
    ['?api+version=1', true],
    ['?api%5Bversion=1', true],
    ['?api-version=1', false],
    ['?apiversion=1', false],
  ])('%j resembles api_version, as PHP reads it: %j', (search, found) => {
    expect(lookAlikes(search, 'api_version', none).length === 1).toBe(found);
  });

  it.each(['?v;', '?v;b=1', '?a=1;v', '?;v', '?%76;', '?a;V;b', '?v=2;x'])(
    'VER-9: %j may override the parameter that the gateway sends before it',
    (search) => {
      expect(lookAlikes(search, 'v', none, true)).not.toEqual([]);
    },
  );

  it('omits ignored parameters, by decoded name', () => {
    const search = '?version%5Bgte%5D=0&version[lt]=1&Version=1&x;version=2';
    const left = (...names: readonly string[]) => lookAlikes(search, 'version', ignoredNames(names));
    expect(left('version[gte]')).toEqual(['version[lt]=1', 'Version=1', 'version=2']);
    expect(left('version[*]')).toEqual(['Version=1', 'version=2']);
    expect(left('version[*t*]', 'Version', ';version')).toEqual([]);
    expect(left('version[*gte]x', '*]*[', 'ver*on[g*g*te]')).toHaveLength(4);
  });

  it('never include the parameter itself, in any query', () => {
    const name = fc.constantFrom('version', '%76ersion', 'x', 'Version', 'version[]', '%', '+', ';', '');
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.string()), { maxLength: 6 }), (pairs) => {
        const own = pairs.map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
        const found = lookAlikes(`?${own.join('&')}`, 'version', none);
        for (const each of found) expect(each).not.toMatch(/^v?[0-9.-]*$/);
        const sound = own.filter((pair) => /^(version|%76ersion)=/.test(pair));
        expect(lookAlikes(`?${sound.join('&')}`, 'version', none)).toEqual([]);
      }),
    );
  });

  it('include every name that Express reads as the parameter', async () => {
    const read = express().set('query parser', 'extended').get('query parser fn');
    const piece = fc.constantFrom(
      'v',
      'V',
      '[',
      ']',
      '[]',
      '%5B',
      '%5d',
      '%00',
      '+',
      '.',
      ';',
      '%',
      '%3D',
      '=',
      '0',
      'x',
    );
    const names = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));
    const property = fc.property(names, (name) => {
      const search = `?${name}=v2&v=v1`;
      const sent = withoutParameter(search.replace('&v=v1', ''), 'v');
      if (lookAlikes(sent, 'v', none).length === 0)
        expect(read(withParameterFirst(sent, 'v', 'v1').slice(1)).v).toBe('v1');
    });
    await fuzz(property, 4_000);
  });
});
