// Parsing and normalising request targets (VER-7).
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTarget } from '../../gateway/exchange/request-view.ts';
import { threadMs } from '../support/thread-time.ts';

describe('VER-7: the path is normalised once', () => {
  it.each([
    ['/api/%76%31/x', '/api/v1/x'],
    ['/api/v1/a%2fb', '/api/v1/a%2Fb'],
    ['/api/v1%252Fx', '/api/v1%252Fx'],
    ['/api//v1', '/api//v1'],
    ['/.well-known/x', '/.well-known/x'],
    ['/a/...', '/a/...'],
    ['/a/x..y/.z', '/a/x..y/.z'],
    ['/api/v1;a=b/x', '/api/v1;a=b/x'],
    ['/', '/'],
  ])('%s becomes %s', (sent, path) => {
    expect(readTarget(sent, 'GET')).toMatchObject({ kind: 'resource', path, search: '' });
  });

  it.each([
    ['a doubly encoded line end', '/a%250D%250AX:1'],
    ['a NUL, encoded three times', '/a%252500'],
    ['dot segments before a blank', '/a/..%20'],
    ['dot segments before an encoded blank', '/a/.%2520/b'],
    ['dot segments before a blank of Latin-1', '/a/..%A0'],
    ['a line end', '/a/%0d%0aX:1'],
    ['a tab between dots, which URL parsers drop', '/a/.%09./b'],
    ['a DEL character', '/a/%7f'],
    ['a backslash', '/a\\b'],
    ['an encoded backslash', '/a%5Cb'],
    ['an encoded backslash in lower case', '/a%5cb'],
    ['a doubly encoded backslash', '/a%255Cb'],
    ['a backslash, encoded three times', '/a%25255cb'],
    ['a backslash by encoded digits of its encoding', '/a%25%2535%2543b'],
    ['two slashes before a host', '//evil.example/a'],
    ['an incomplete percent-encoding', '/a%2'],
    ['a dot in an overlong form', '/a/%c0%ae%c0%ae/b'],
    ['a slash in an overlong form', '/a/..%C0%AFb'],
    ['a backslash in an overlong form', '/a/..%c1%9cb'],
    ['a dot in three octets', '/a/%e0%80%ae%e0%80%ae/b'],
    ['a dot in four octets', '/a/%f0%80%80%ae'],
    ['a doubly encoded overlong form', '/a/%25c0%25ae/b'],
    ['dot segments before an encoded ?', '/a/..%3fb'],
    ['dot segments before an encoded #', '/a/..%23b'],
    ['a dot by encoded digits of its encoding', '/a/%25%2532%2565%25%2532%2565/b'],
    ['too many nested encodings', '/a/%25252525252525252541'],
  ])('refused: %s: %s', (_what, sent) => {
    expect(readTarget(sent, 'GET')).toMatchObject({ kind: 'malformed' });
  });

  it.each([
    '/caf%C3%A9',
    '/caf%E9',
    '/%E0%A0%80',
    '/%F0%9F%98%80',
    '/100%25',
    '/a/%252525',
    '/..a%3Fb',
    '/%20',
  ])('kept: %s', (sent) => {
    expect(readTarget(sent, 'GET')).toMatchObject({ kind: 'resource', path: sent });
  });

  it('hostile paths are read in less than 25 ms', () => {
    const hostile = [`/%${'25'.repeat(4_080)}2e`, `/${'%25'.repeat(2_700)}`, `/${'%2525252525'.repeat(700)}`];
    // The minimum of several runs, because a busy machine distorts a single one.
    const tries = Array.from({ length: 10 }, () => {
      const before = threadMs();
      for (const path of hostile) readTarget(path, 'GET');
      return threadMs() - before;
    });
    expect(Math.min(...tries)).toBeLessThan(25);
  });

  it('the query is unchanged', () => {
    expect(readTarget('/a?x=%2e&x=../..&%zz', 'GET')).toMatchObject({
      path: '/a',
      search: '?x=%2e&x=../..&%zz',
    });
  });

  it('an absolute-form target without a path means /', () => {
    expect(readTarget('http://a.example?x', 'GET')).toMatchObject({
      absolute: { scheme: 'http', authority: 'a.example' },
      path: '/',
      search: '?x',
    });
  });

  it('normalising a result again changes nothing, and no decoding reveals a dot segment', () => {
    const piece = fc.constantFrom(
      'a',
      '/',
      '.',
      '%2e',
      '%2E',
      '%252e',
      '%2f',
      '%25',
      ';',
      '%7e',
      '%5c',
      '\\',
      '..',
      '//',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const read = readTarget(`/${pieces.join('')}`, 'GET');
        if (read.kind !== 'resource') return;
        expect(readTarget(read.path, 'GET')).toEqual({ ...read, search: '' });
        let path = read.path;
        for (let round = 0; round < 6; round += 1) {
          expect(path.split(/[/\\]/).map((segment) => segment.split(';')[0])).not.toEqual(
            expect.arrayContaining(['..']),
          );
          path = path.replace(/%25|%2e|%2f|%5c/gi, (triplet) => decodeURIComponent(triplet));
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
