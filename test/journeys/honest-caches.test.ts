// Random responses before a change, judged by independent models of RFC 9111 and of other caches.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { adminWriter } from '../support/admin-write.ts';
import {
  CACHE_KINDS,
  type CachedExchange,
  freshened,
  longestUse,
  mayServe,
  mayStore,
  varyAllows,
} from '../support/cache-model.ts';
import { FUZZ_TIMEOUT_MS, samples } from '../support/fuzz.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Client, overHttp1 } from '../support/http-client.ts';
import { startTestIssuer } from '../support/issuer.ts';
import { PROXY_CACHES } from '../support/proxy-caches.ts';

const DAY_S = 86_400;
const DEPRECATED = Date.UTC(2026, 0, 15);
const BROWNOUT = Date.UTC(2027, 0, 5, 14);
const [BETA_ENDS, BROWNOUT_ENDS] = [BROWNOUT + 7 * 60_000, BROWNOUT + 15 * 60_000];
const SUNSET = Date.UTC(2027, 3, 15);
const ACME_ENDS = Date.UTC(2027, 5, 30);
const V2_DEPRECATED = Date.UTC(2027, 9, 1);

type Caller = 'nobody' | 'acme' | 'beta' | 'acme by key';
const CALLERS: readonly Caller[] = ['nobody', 'acme', 'beta', 'acme by key'];
type Api = 'open' | 'mixed' | 'known' | 'pinned' | 'spread';

const stack = new AsyncDisposableStack();
let gateway: RunningGateway;
let client: Client;
let credentials: Readonly<Record<Caller, Readonly<Record<string, string>>>>;
let now = DEPRECATED;

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  const environment = { ECHO: echo.url, ISSUER: issuer.url };
  gateway = stack.use(await runGateway({ policies: 'honest-caches', lifecycleNow: () => now, environment }));
  client = stack.use(overHttp1(gateway.https));
  const admin = stack.use(overHttp1(gateway.admin, { tls: false }));
  const write = adminWriter(admin, await gateway.adminToken());
  const key = { consumer: 'acme', by: 'api-team', why: 'contract 4711' };
  const made = await write({ method: 'POST', path: '/-/keys', body: key });
  const bearer = async (consumer: string) => `Bearer ${await issuer.sign({ client_id: consumer })}`;
  credentials = {
    nobody: {},
    acme: { authorization: await bearer('acme') },
    beta: { authorization: await bearer('beta') },
    'acme by key': { 'x-api-key': String(made.json.secret) },
  };
});
afterAll(() => stack.disposeAsync());

const seconds = fc.constantFrom(0, 1, 5, 59, 60, 61, 600, 3_600, 43_200, DAY_S, 1_000_000, 100_000_000);
const directive = fc
  .tuple(
    seconds,
    fc.constantFrom(
      ...['max-age=#', 'max-age=#', 'max-age = #', 'max-age="#"', 'MAX-AGE=#', 'max-age=soon', 'max-age=#s'],
      ...['s-maxage=#', 's-maxage = "#"', 'stale-while-revalidate=#', 'stale-if-error = #'],
      ...[
        'public',
        'private',
        'must-revalidate',
        'no-cache',
        'no-store',
        'immutable',
        'must-understand, no-store',
      ],
      ...['ext="max-age=#"', 'private="Set-Cookie"', 'no-cache="Set-Cookie"'],
      ...['x-max-age=#', '_s-maxage=#', 'ext="a, max-age=# , b"', 'x-stale-if-error=#'],
    ),
  )
  .map(([number, form]) => form.replace('#', String(number)));
const field = fc
  .tuple(fc.array(directive, { minLength: 1, maxLength: 3 }), fc.constantFrom(', ', ',', ' , '))
  .map(([directives, comma]) => directives.join(comma));

/** Seconds from now, and the format in which the date is written. */
const date = fc.tuple(
  seconds,
  fc.constantFrom(
    ...['GMT', 'GMT', 'CET', 'MESZ', 'rfc850', 'asctime', '0', '-1', '9999', 'never'],
    'Friday, 27-Nov-65 10:00:00 GMT',
  ),
);
type WrittenDate = readonly [offset: number, form: string];

const edgeControl = fc
  .tuple(
    seconds,
    fc.constantFrom(
      ...['max-age=#', 'max-age=#s', 'cache-maxage=2h', '!no-store,max-age=1d', 'no-store', 'dca=esi'],
      ...['downstream-ttl=90m', 'MAX-AGE=1D'],
    ),
  )
  .map(([number, form]) => form.replace('#', String(number)));

/** `@`: Unix time in seconds. */
const accel = fc.tuple(seconds, fc.constantFrom('', '', '@'));

const optional = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined, freq: 2 });

const answer = fc.record({
  status: fc.constantFrom(200, 200, 200, 200, 203, 204, 206, 300, 301, 302, 404, 410, 500, 501),
  cacheControl: optional(field),
  targeted: optional(fc.tuple(fc.constantFrom('CDN', 'Akamai'), field)),
  edgeControl: optional(edgeControl),
  accel: optional(accel),
  expires: optional(date),
  /** Seconds by which the clock of the service is ahead or behind. */
  skew: fc.option(fc.tuple(seconds, fc.constantFrom<1 | -1>(1, -1)), { nil: undefined, freq: 4 }),
  lastModified: optional(date),
  etag: fc.boolean(),
  age: optional(seconds),
  vary: optional(fc.constantFrom('Accept-Encoding', '*')),
});
type Upstream = typeof answer extends fc.Arbitrary<infer T> ? T : never;

const row = fc.record({
  api: fc.constantFrom<Api>('open', 'mixed', 'known', 'pinned', 'spread'),
  version: fc.constantFrom('v1', 'v1', 'v2'),
  method: fc.constantFrom('GET', 'GET', 'HEAD'),
  change: fc.constantFrom(DEPRECATED, BROWNOUT, BETA_ENDS, BROWNOUT_ENDS, SUNSET, ACME_ENDS, V2_DEPRECATED),
  distance: fc.constantFrom(
    500,
    1_000,
    7_300,
    60_000,
    400_000,
    3_600_000,
    50_000_000,
    90_000_000,
    3_000_000_000,
  ),
  caller: fc.constantFrom(...CALLERS),
  other: fc.constantFrom(...CALLERS),
  upstream: answer,
  later: fc.record({ percent: fc.nat({ max: 99 }), modified: fc.boolean() }),
});
type Row = typeof row extends fc.Arbitrary<infer T> ? T : never;

function spell([offset, form]: WrittenDate, direction: 1 | -1): string {
  const at = new Date(Math.floor(Date.now() / 1000) * 1000 + direction * offset * 1000);
  const text = at.toUTCString();
  const [weekday = '', day = '', month = '', year = '', time = ''] = text.split(' ');
  if (/^[A-Z]+$/.test(form)) return text.replace('GMT', form);
  if (form === 'rfc850') {
    const name = new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: 'UTC' }).format(at);
    return `${name}, ${day}-${month}-${year.slice(2)} ${time} GMT`;
  }
  if (form === 'asctime')
    return `${weekday.slice(0, 3)} ${month} ${String(Number(day)).padStart(2)} ${time} ${year}`;
  return form;
}

function linesOf(upstream: Upstream, modified: string | undefined): readonly string[] {
  const { cacheControl, targeted, edgeControl, accel, skew, expires, etag, age, vary } = upstream;
  const [offset, at] = accel ?? [];
  return [
    skew === undefined ? [] : `Date:${spell([skew[0], 'GMT'], skew[1])}`,
    cacheControl === undefined ? [] : `Cache-Control:${cacheControl}`,
    targeted === undefined ? [] : `${targeted[0]}-Cache-Control:${targeted[1]}`,
    edgeControl === undefined ? [] : `Edge-Control:${edgeControl}`,
    offset === undefined
      ? []
      : `X-Accel-Expires:${at}${offset + (at === '@' ? Math.floor(Date.now() / 1000) : 0)}`,
    expires === undefined ? [] : `Expires:${spell(expires, 1)}`,
    modified === undefined ? [] : `Last-Modified:${modified}`,
    etag ? 'ETag:"a"' : [],
    age === undefined ? [] : `Age:${age}`,
    vary === undefined ? [] : `Vary:${vary}`,
  ].flat();
}

async function exchange(
  { api, version, method }: Pick<Row, 'api' | 'version' | 'method'>,
  caller: Caller,
  lines: readonly string[],
  status: number,
  more: Readonly<Record<string, string>> = {},
): Promise<CachedExchange> {
  const query = [`status=${status}`, ...lines.map((line) => `header=${encodeURIComponent(line)}`)].join('&');
  const request = { ...credentials[caller], ...more };
  const path = api === 'pinned' ? `/api/${api}?${query}` : `/api/${version}/${api}?${query}`;
  const got = await client.ask({ path, method, headers: request });
  return { method, request, status: got.status, answer: got.headers, at: Date.now() };
}

/** The next instant at which the response to this caller changes. */
function nextChange({ api, version }: Row, caller: Caller): number {
  const acme = caller.startsWith('acme') && api !== 'open';
  const exceptions = api === 'open' ? [] : acme ? [ACME_ENDS] : caller === 'beta' ? [BETA_ENDS] : [];
  const changes =
    version === 'v2' || api === 'pinned'
      ? [V2_DEPRECATED]
      : [DEPRECATED, BROWNOUT, BROWNOUT_ENDS, ...exceptions, ...(acme ? [] : [SUNSET])];
  return Math.min(...changes.filter((at) => at > now));
}

function tooLong(what: string, exchanged: CachedExchange, most: number): readonly string[] {
  return CACHE_KINDS.flatMap((kind) => {
    if (!mayStore(kind, exchanged)) return [];
    const use = longestUse(kind, exchanged);
    return use <= most
      ? []
      : [`${what}: a ${kind} cache serves it for ${use} s, ${most} s before the change`];
  });
}

async function judge(row: Row): Promise<readonly string[]> {
  const { api, version, caller, other, upstream, later } = row;
  now = row.change - row.distance;
  const modified = upstream.lastModified && spell(upstream.lastModified, -1);
  const lines = linesOf(upstream, modified);
  const first = await exchange(row, caller, lines, upstream.status);
  const change = nextChange(row, caller);
  const faults = [...tooLong('first', first, (change - now) / 1000)];
  if (api === 'pinned') faults.push(...tooLong('pinned', first, DAY_S));
  for (const [name, use] of Object.entries(PROXY_CACHES))
    if (use(first) > (change - now) / 1000)
      faults.push(`${name} serves it for ${use(first)} s, ${(change - now) / 1000} s before the change`);

  const shared = CACHE_KINDS.filter((kind) => kind !== 'private');
  const kinds = api === 'mixed' ? CACHE_KINDS : shared;
  // After the last exception the end of v1 is public, and all callers get the same response.
  const isPublic = api === 'open' || api === 'spread' || (version === 'v1' && now >= ACME_ENDS);
  if (!isPublic && other !== caller) {
    const later = { request: credentials[other] };
    const serving = kinds.filter((kind) => mayServe(kind, first, later)).map((kind) => `a ${kind} cache`);
    if (varyAllows(first, later))
      serving.push(...Object.keys(PROXY_CACHES).filter((name) => (PROXY_CACHES[name]?.(first) ?? 0) > 0));
    faults.push(...serving.map((each) => `${each} serves to ${other} what was for ${caller}`));
  }

  // A cache revalidates, and the 304 repeats the fields of the 200.
  if (first.answer.etag === undefined && modified === undefined) return faults;
  now += Math.floor((later.percent / 100) * (change - now));
  const conditions = {
    ...(first.answer.etag !== undefined && { 'if-none-match': first.answer.etag }),
    ...(modified !== undefined && { 'if-modified-since': modified }),
  };
  const again = linesOf(upstream, later.modified ? modified : undefined);
  const second = await exchange(row, caller, again, 304, conditions);
  if (second.status !== 304) return faults;
  const left = (change - now) / 1000;
  if (CACHE_KINDS.some((kind) => mayStore(kind, first)))
    faults.push(...tooLong('freshened by a 304', freshened(first, second), left));
  return faults;
}

describe('honest caches', () => {
  it(
    'CACHE-2, CACHE-3, CACHE-6: serve nothing past the next change, and nothing to another caller',
    async () => {
      const { seed, drawn } = samples(row, 200);
      const found: string[] = [];
      for (const each of drawn) {
        const faults = await judge(each);
        if (faults.length > 0) found.push(`${JSON.stringify(each)}\n  ${faults.join('\n  ')}`);
      }
      const summary = `${found.length} of ${drawn.length} rows, seed ${seed}:\n${found.slice(0, 5).join('\n')}`;
      expect(found.length, summary).toBe(0);
    },
    3 * FUZZ_TIMEOUT_MS,
  );

  it.each<[what: string, at: number, api: Api, caller: Caller, method: string, kept: boolean]>([
    ['after the sunset for others', SUNSET, 'spread', 'acme', 'GET', false],
    ['in a brownout for others', BROWNOUT, 'spread', 'beta', 'GET', false],
    ['before a sunset for one caller', SUNSET - 1, 'spread', 'acme', 'GET', false],
    ['with PUT', SUNSET, 'spread', 'acme', 'PUT', true],
    ['with the same response as others', SUNSET - 1, 'spread', 'beta', 'GET', true],
    ['whose response is not shared', SUNSET, 'known', 'acme', 'GET', true],
  ])('CACHE-3: a 304 never renews a response for other callers: a request %s', async (...each) => {
    const [_what, at, api, caller, method, kept] = each;
    now = at;
    const conditions = { 'if-none-match': '"a"', 'if-modified-since': 'Fri, 20 Nov 2026 12:00:00 GMT' };
    const headers = { ...credentials[caller], ...conditions };
    const { status, text } = await client.ask({ path: `/api/v1/${api}`, method, headers });
    expect(status).toBe(200);
    expect(text.match(/"if-(?:none-match|modified-since)"/g) ?? []).toHaveLength(kept ? 2 : 0);
  });
});
