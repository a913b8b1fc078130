// The octets that a path may contain after two proxies decode it, however they are encoded (VER-7).
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodedOctets, decodeUnreserved } from '../../gateway/policy/octets.ts';
import { mayBeginWithTwoSlashes, mayContain } from '../../gateway/policy/paths/rules.ts';
import { pathRulesOf } from '../../gateway/sections/routes/compile.ts';
import { fuzz } from '../support/fuzz.ts';

const encodedAt = (text: string, at: number) =>
  `${text.slice(0, at)}%${text.charCodeAt(at).toString(16).padStart(2, '0')}${text.slice(at + 1)}`;
/** Encodes one octet at a time, possibly a digit of an earlier encoding. */
const spelling = fc
  .record({
    octet: fc.constantFrom('/', '?', '#'),
    places: fc.array(fc.nat(30), { minLength: 1, maxLength: 8 }),
    upper: fc.boolean(),
  })
  .map(({ octet, places, upper }) => {
    const encoded = places.reduce((text, at) => encodedAt(text, at % text.length), encodedAt(octet, 0));
    return { octet, tail: decodeUnreserved(`/items/7${upper ? encoded.toUpperCase() : encoded}payments`) };
  })
  // Other paths are malformed.
  .filter(({ tail }) => !/%(?![0-9A-F]{2})/i.test(tail));

it.each([1, 2, 3])('the result of %i decodings of a path is predicted', async (decodings) => {
  await fuzz(
    fc.property(spelling, ({ octet, tail }) => {
      const received = Array.from({ length: decodings }).reduce<string>(decodedOctets, tail);
      const digits = octet.charCodeAt(0).toString(16).toUpperCase();
      const isHeld = received.slice('/items/'.length).includes(octet);
      expect(isHeld && !mayContain(tail, [digits], pathRulesOf('strict')), tail).toBe(false);
    }),
    2_000,
  );
});

it.each(['%25', '%2525', '%252', 'a%2541b', '%25%32%35'])(
  '%s contains no slash under any decoding',
  (text) => {
    expect(mayContain(`/items/${text}`, ['2F'], pathRulesOf('strict'))).toBe(false);
  },
);

it.each(['/%2Fevil/x', '/%252Fevil', '/%25%32Fevil', '/%2F%2Fevil', '//evil'])(
  'VER-7: %s may begin with two slashes after a proxy decodes it',
  (path) => {
    expect(mayBeginWithTwoSlashes(path, pathRulesOf('strict'))).toBe(true);
    expect(mayBeginWithTwoSlashes(path, pathRulesOf('express'))).toBe(path.startsWith('//'));
  },
);

it.each(['/a%2Fb', '/%20%2Fb', '/%41', '/', ''])('VER-7: %s begins with one slash at most', (path) => {
  expect(mayBeginWithTwoSlashes(path, pathRulesOf('strict'))).toBe(false);
});
