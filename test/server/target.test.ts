import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTarget } from '../../gateway/server/target.ts';

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
  ])('%s', (sent, path) => {
    expect(readTarget(sent, 'GET')).toMatchObject({ kind: 'resource', path, search: '' });
  });

  it('the query is never touched', () => {
    expect(readTarget('/a?x=%2e&x=../..&%zz', 'GET')).toMatchObject({
      path: '/a',
      search: '?x=%2e&x=../..&%zz',
    });
  });

  it('an absolute-form target without a path means /', () => {
    expect(readTarget('http://a.example?x', 'GET')).toMatchObject({
      authority: 'a.example',
      path: '/',
      search: '?x',
    });
  });

  it('reading what was read changes nothing, and no dot segment survives any number of decodings', () => {
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
