// A version in the query: how it is read, and that cutting it leaves every other byte alone.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parameterValues, withoutParameter, withParameter } from '../../gateway/policy/versioning/query.ts';

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
  ])('VER-4: %j holds %j', (search, values) => {
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

  it('VER-9: none is left, and what is left is what was there', () => {
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
