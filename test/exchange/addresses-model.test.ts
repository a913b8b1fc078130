// FWD-9: mapped addresses against a model of client, gateway and service, for random addresses and places.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AnswerHeaders } from '../../gateway/exchange/answer-headers.ts';
import { fuzz } from '../support/fuzz.ts';
import { type DrawnAddress, drawnAddress } from './drawn-addresses.ts';
import { type MappedService, mapped, PUBLIC } from './mapped-service.ts';

const servicePath = fc.constantFrom('', '/bookings', '/inner/bookings', '/v1/bookings', '/v1', '/a');
const clientPath = fc.constantFrom('', '/v1/bookings', '/bookings', '/api/v1/bookings', '/v1', '/a/b');
const targets = fc.subarray(
  [
    'http://10.0.0.7:4101',
    'https://10.0.0.8',
    'http://127.0.0.1:4102',
    'http://[fd00::7]:4103',
    'http://orders',
  ],
  { minLength: 1 },
);

interface Case {
  readonly service: MappedService & { readonly path: string; readonly client: string; readonly tail: string };
  readonly address: DrawnAddress;
}

const cases: fc.Arbitrary<Case> = fc
  .record({
    path: servicePath,
    client: clientPath,
    targets,
    host: fc.constantFrom(undefined, 'bookings.internal', 'bookings.internal:8080'),
    tail: fc.constantFrom('/7', '/7/', '/7/rooms', '/'),
    isQuery: fc.boolean(),
  })
  .chain(({ host, isQuery, ...rest }) => {
    const service = {
      ...rest,
      ...(host === undefined ? {} : { host }),
      ...(isQuery ? { query: 'version', search: '?version=1' } : {}),
    };
    const own = [
      ...rest.targets,
      ...(host === undefined ? [] : [`http://${host}`]),
      'http://api.example.com',
    ];
    return fc.record({
      service: fc.constant(service),
      address: drawnAddress({ servicePath: rest.path, from: rest.path + rest.tail, own }),
    });
  });

const isBelow = (path: string, prefix: string) => path === prefix || path.startsWith(`${prefix}/`);

/** The path that the service would see if a client follows `got`. Undefined outside of the API. */
function followed(got: string, { client, tail, path, search = '' }: Case['service']) {
  const url = new URL(got, `${PUBLIC}${client}${tail}${search}`);
  const isHere = url.origin === PUBLIC && isBelow(url.pathname, client);
  return { url, seen: isHere ? path + url.pathname.slice(client.length) || '/' : undefined };
}

function check({ service, address: { written, meant, search } }: Case, got: string, outside: number): void {
  const { url, seen } = followed(got, service);
  if (meant === undefined) {
    expect(got).toBe(written);
    expect(outside).toBe(0);
    return;
  }
  expect(url.origin).toBe(PUBLIC);
  const isTheirs = service.client !== '' && isBelow(meant, service.client);
  const staysAsItIs = isTheirs && service.client.length > service.path.length;
  if (staysAsItIs || !isBelow(meant, service.path)) {
    expect(decodedOnce(url.pathname)).toBe(meant);
    expect(outside).toBe(isTheirs ? 0 : 1);
    if (!isTheirs) expect(url.search).toBe(search);
  } else {
    // With an API at the root, the path of the service maps to the root of the host.
    const atRoot = service.client === '' && meant === service.path;
    expect(decodedOnce(seen ?? '')).toBe(atRoot ? `${meant}/`.replace(/^\/\/$/, '/') : meant);
    expect(outside).toBe(0);
  }
  if (outside === 0 && service.query !== undefined) {
    expect(url.searchParams.getAll('version')).toEqual(['1']);
    expect(url.search.startsWith(search === '' ? '?' : search)).toBe(true);
  } else expect(url.search).toBe(search);
}

/** Reads a path like the gateway: unreserved characters decoded, hex digits in upper case. */
function decodedOnce(path: string): string {
  return path.replace(/%[0-9a-f]{2}/gi, (triplet) => {
    const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : triplet.toUpperCase();
  });
}

const inside = /10\.0\.0\.[78]|127\.0\.0\.1|fd00::7|orders|internal|secret/i;

it('a mapped address leads to the resource that the service meant, and shows no internal host', async () => {
  const property = fc.property(cases, (drawn) => {
    const { headers, outside } = mapped(drawn.service, { location: drawn.address.written });
    const got = headers.location;
    if (typeof got !== 'string') throw new Error('dropped');
    expect(got).not.toMatch(inside);
    check(drawn, got, outside);
  });
  await fuzz(property, 2_000);
});

it('every field maps an address in the same way', async () => {
  const property = fc.property(cases, ({ service, address: { written } }) => {
    const of = (headers: AnswerHeaders) => mapped(service, headers).headers;
    const { location } = of({ location: written });
    expect(of({ 'content-location': written })['content-location']).toBe(location);
    expect(of({ refresh: `5; url="${written}"` }).refresh).toBe(`5; url="${location}"`);
    const link = `<${written}>; rel="a"; anchor="${written}", <${written}>; rel=b`;
    expect(of({ link }).link).toBe(`<${location}>; rel="a"; anchor="${location}", <${location}>; rel=b`);
  });
  await fuzz(property, 1_000);
});

it('no field shows the address of a target or contains a line break, for any text of a service', async () => {
  const piece = fc.constantFrom(
    ...[
      'http://10.0.0.7:4101',
      'https:',
      'http:',
      '//',
      '10.0.0.7:4101',
      '/bookings',
      '/v1',
      '@',
      '\\',
      ':',
      '%2e%2e',
    ],
    ...[
      '..',
      '.',
      '/',
      '?',
      '#',
      '<',
      '>',
      '"',
      "'",
      ';',
      ',',
      ' ',
      '\t',
      '=',
      'url=',
      '5',
      'rel=',
      'anchor=',
      'a',
    ],
    ...[
      '[',
      ']',
      '%',
      '\u00e9',
      '\u00ff',
      'ws://',
      'grpc://',
      '10.0.0.7',
      '167772167:4101',
      ':4101',
      'Domain=',
      'Path=',
      '__Host-',
    ],
  );
  const text = fc.array(piece, { maxLength: 9 }).map((pieces) => pieces.join(''));
  const property = fc.property(fc.constantFrom(...Object.keys(READ)), text, (name, written) => {
    const got = mapped({}, { [name]: written }).headers[name];
    if (got === undefined) return;
    expect(got).toMatch(/^[\t\x20-\xff]*$/);
    for (const address of READ[name]?.(String(got)) ?? []) {
      for (const base of [PUBLIC, 'http://api.example.com'])
        expect(URL.parse(address, base)?.host).not.toBe('10.0.0.7:4101');
    }
  });
  await fuzz(property, 2_000);
});

/** What a client reads as an address in each field. */
const READ: Readonly<Record<string, (value: string) => readonly string[]>> = {
  location: (value) => [value],
  'content-location': (value) => [value],
  refresh: (value) => {
    const [, quote = '', rest = ''] = /^\s*[\d.]+\s*[;,\s]\s*(?:url\s*=\s*)?(["']?)(.*)$/i.exec(value) ?? [];
    return [quote === '' ? rest : (rest.split(quote, 1)[0] ?? '')];
  },
  link: (value) =>
    [...value.matchAll(/<([^>]*)>|anchor\s*=\s*"([^"]*)/gi)].map(
      ([, target, anchor]) => target ?? anchor ?? '',
    ),
};
