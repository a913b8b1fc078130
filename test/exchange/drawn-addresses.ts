// Random services, requests and addresses, with the known meaning of each address.
import fc from 'fast-check';

export interface DrawnAddress {
  /** As the service writes it. */
  readonly written: string;
  /** The normalised service path that is meant. Undefined for another origin. */
  readonly meant: string | undefined;
  readonly search: string;
}

/** A segment as written, and its meaning once normalised. */
const segment = fc.constantFrom(
  ['9', '9'],
  ['a-b', 'a-b'],
  ['rooms', 'rooms'],
  ['%61', 'a'],
  ['a%2fb', 'a%2Fb'],
  ['a%2Fb', 'a%2Fb'],
  ['%C3%A9', '%C3%A9'],
  ['a:b', 'a:b'],
  ['a%3Ab', 'a%3Ab'],
  ['%7Eme', '~me'],
  ['a;x=1', 'a;x=1'],
  ["it's", "it's"],
  ['bookings', 'bookings'],
  ['v1', 'v1'],
  ['x%20y', 'x%20y'],
) satisfies fc.Arbitrary<readonly [written: string, meant: string]>;

const search = fc.constantFrom('', '?page=2', '?a=%2F&b', '?x=http://elsewhere.test/');
const fragment = fc.constantFrom('', '#part', '#');

/** Ways to write a path with dot segments. `from`: the path of the request, the base of relative ones. */
const DETOURS = ['plain', 'down and up', 'encoded dots', 'relative', 'relative from the top'] as const;

function spelled(path: string, detour: (typeof DETOURS)[number], from: string): string {
  switch (detour) {
    case 'plain':
      return path;
    case 'down and up':
      return `/x/..${path}`;
    case 'encoded dots':
      return `/x/y/%2e%2E/.%2e/%2e${path}`;
    case 'relative': {
      const up = '../'.repeat(Math.max(0, from.split('/').length - 2));
      return up === '' ? `.${path}` : up + path.slice(1);
    }
    case 'relative from the top':
      return `../../../../../../..${path}`;
    default: {
      const never: never = detour;
      throw new Error(never);
    }
  }
}

/** Ways to write `authority` with the same meaning. */
const SPELLINGS: readonly ((authority: string) => string)[] = [
  (authority) => authority,
  (authority) => authority.toUpperCase().replace(/^HTTPS?/, (scheme) => scheme.toLowerCase()),
  (authority) => authority.replace('://', '://user:secret@'),
  (authority) => authority.replace(/^https?:/, ''),
  (authority) => authority.replace(/^https?/, 'HTTP'),
  (authority) =>
    /:\d+$/.test(authority) ? authority : `${authority}:${authority.startsWith('https') ? 443 : 80}`,
];

export interface DrawnFor {
  readonly servicePath: string;
  /** The path of the request at the service. */
  readonly from: string;
  /** Origins of the service. */
  readonly own: readonly string[];
}

export function drawnAddress({ servicePath, from, own }: DrawnFor): fc.Arbitrary<DrawnAddress> {
  const below = fc
    .tuple(
      fc.constantFrom(servicePath, servicePath, servicePath, '/elsewhere', ''),
      fc.array(segment, { maxLength: 3 }),
    )
    .map(([start, segments]) => ({
      path: start + segments.map(([written]) => `/${written}`).join('') || '/',
      meant: start + segments.map(([, meant]) => `/${meant}`).join('') || '/',
    }));
  const parts = fc.record({ at: below, detour: fc.constantFrom(...DETOURS), search, fragment });
  const withoutAuthority = parts.map(
    ({ at, detour, search: query, fragment: part }): DrawnAddress => ({
      written: spelled(at.path, detour, from) + query + part,
      meant: at.meant,
      search: query,
    }),
  );
  const withAuthority = fc
    .record({ parts, origin: fc.constantFrom(...own), spelling: fc.constantFrom(...SPELLINGS) })
    .map(
      ({ parts: { at, search: query, fragment: part }, origin, spelling }): DrawnAddress => ({
        written: spelling(origin) + at.path + query + part,
        meant: at.meant,
        search: query,
      }),
    );
  const elsewhere = fc
    .record({ parts, origin: fc.constantFrom('https://example.net', '//example.net:4101') })
    .map(
      ({ parts: { at, search: query, fragment: part }, origin }): DrawnAddress => ({
        written: origin + at.path + query + part,
        meant: undefined,
        search: query,
      }),
    );
  return fc.oneof(
    { arbitrary: withoutAuthority, weight: 4 },
    { arbitrary: withAuthority, weight: 4 },
    { arbitrary: elsewhere, weight: 1 },
  );
}
