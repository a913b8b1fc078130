// Checks of received field lines: which names may be repeated, in any case, and which are removed.
import { expect, it } from 'vitest';
import { strictnessRefusal } from '../../gateway/exchange/strictness.ts';
import { compileBounds } from '../../gateway/plan/compile/bounds.ts';

const bounds = compileBounds({});
const judge = (rawHeaders: readonly string[], isHttp2 = false) =>
  strictnessRefusal({ url: '/', httpVersion: '1.1', rawHeaders, headers: {} }, isHttp2, bounds);

const ONCE = [
  ...['Host', 'Authorization', 'Content-Type', 'Content-Length', 'Transfer-Encoding', 'If-Modified-Since'],
  ...['If-Unmodified-Since', 'If-Range', 'Range', 'Expect', 'Origin', 'Referer', 'User-Agent', 'From'],
  ...['Max-Forwards', 'Proxy-Authorization', 'Idempotency-Key'],
];

it.each(ONCE)('SMG-17: %s may be sent once, in any case', (name) => {
  const message = `${name.toLowerCase()} may be sent only once.`;
  for (const other of [name, name.toLowerCase(), name.toUpperCase()]) {
    expect(judge([name, 'a', 'Accept', '*/*', other, 'b'])).toMatchObject({ status: 400, message });
    expect(judge([name, 'a', 'Accept', '*/*'])).toBeUndefined();
  }
  expect(judge([name.toLowerCase(), 'a', name.toLowerCase(), 'a'], true)).toMatchObject({ status: 400 });
});

it.each(ONCE)('a name similar to %s may be repeated', (name) => {
  const alike = name.replace(/.$/, 'x');
  expect(judge([alike, 'a', name, 'b', alike, 'c'])).toBeUndefined();
});

it('SMG-25: a name with an underscore is removed in any case', () => {
  const head = { url: '/', httpVersion: '1.1', rawHeaders: ['X_User', 'a'], headers: { x_user: 'a' } };
  expect(strictnessRefusal(head, false, bounds)).toBeUndefined();
  expect(head).toMatchObject({ headers: {}, underscored: ['x_user'] });
});
