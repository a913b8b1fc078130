// Generates requests from the plan of an API, for every version, operation and date in it.
import type { ApiPlan, VersionRules } from '../../gateway/plan/plan.ts';
import type { EpochMs } from '../../gateway/policy/contract.ts';
import type { Ask, Fields } from './http-client.ts';

export interface TimedRequest {
  readonly api: string;
  readonly at: EpochMs;
  readonly ask: Ask;
  /** The consumer of the token; undefined: no token. */
  readonly as: Caller | undefined;
  /** The same for one request at different instants; undefined for a single request. */
  readonly series: string | undefined;
}

/** The first has exceptions, the second has none. */
export const CALLERS = ['acme', 'other'] as const;
export type Caller = (typeof CALLERS)[number];

/** How a client names a version: by path, query or headers. */
interface Way {
  readonly base: string;
  /** `name=value`; empty for none. */
  readonly query: string;
  readonly headers: Fields;
  readonly method?: string;
}

const VERSION = '{version}';
const BEYOND_BOUNDS: readonly Fields[] = [
  { 'x-large': 'a'.repeat(9_000), 'x-more': 'a'.repeat(9_000) },
  Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`x-${index}`, '1'])),
  { expect: 'a miracle' },
];
const ORIGIN = 'https://app.example.com';
const PREFLIGHT = { origin: ORIGIN, 'access-control-request-method': 'DELETE' };
const PROBLEM = { accept: 'application/problem+json' };
const BODY = { method: 'POST', body: '{"a":1}' };
/** Larger than every body limit in the journeys. */
const LARGE = JSON.stringify('a'.repeat(400));

/** In the order of time. Requests that do not depend on the day are sent at `day`. */
export function requestsOf(api: ApiPlan, day: EpochMs): readonly TimedRequest[] {
  const versions = [...api.versions.values()];
  const named = versions.flatMap((version): TimedRequest[] => {
    const [main] = waysTo(api, version.label);
    if (main === undefined) return [];
    const parts = [version, ...(version.operations?.list ?? [])];
    return parts.flatMap((rules) => overTime(api, [rules], requestTo(rules, main)));
  });
  // The default version, or the pinned one, changes with the dates of all versions.
  const base = api.paths.find((path) => !path.includes(VERSION));
  const nameless = base === undefined ? [] : overTime(api, versions, { path: base });
  const once = [...versions.flatMap(({ label }) => formsOf(api, label)), ...strangeForms(api)];
  const today = once.map(({ as, ...ask }) => ({ api: api.name, at: day, ask, as, series: undefined }));
  return [...named, ...nameless, ...today].sort((a, b) => a.at - b.at);
}

export type Form = Ask & { readonly as?: Caller };

/** Ways that name the version, each carrier of the API once, and last the way that names none. */
function waysTo(api: ApiPlan, label: string): readonly Way[] {
  const isVersioned = (template: string) => template.includes(VERSION);
  const { header, query: parameter, mediaTypes } = api.resolution;
  const host = api.hosts.find((each) => !isVersioned(each)) ?? '127.0.0.1';
  const own: Fields = host === '127.0.0.1' ? {} : { host };
  const way = (base: string, headers: Fields = {}, query = ''): Way => ({
    base: base.replace(VERSION, label),
    query,
    headers: { ...own, ...headers },
  });
  const base = api.paths.find((path) => !isVersioned(path));
  const byPath = api.paths.filter(isVersioned).map((path) => way(path));
  if (base === undefined) return byPath;
  return [
    ...byPath,
    ...api.hosts.filter(isVersioned).map((each) => way(base, { host: each.replace(VERSION, label) })),
    ...(header === undefined ? [] : [way(base, { [header]: label })]),
    ...(parameter === undefined ? [] : [way(base, {}, `${parameter}=${label}`)]),
    ...mediaTypes.flatMap(({ before, after, parameter: named }) => {
      const type = named === undefined ? before + label + after : `${before}; ${named}=${label}`;
      return [way(base, { accept: type }), { ...way(base, { 'content-type': type }), method: 'POST' }];
    }),
    way(base),
  ];
}

function asked({ base, query, headers, method }: Way, tail = '', more: Fields = {}): Ask {
  const [path, rest] = tail.split('?');
  const search = [query, rest].filter(Boolean).join('&');
  return {
    path: `${base}${path}${search === '' ? '' : `?${search}`}`,
    headers: { ...headers, ...more },
    ...(method === 'POST' ? BODY : {}),
  };
}

function formsOf(api: ApiPlan, label: string): readonly Form[] {
  const [main, ...others] = waysTo(api, label);
  if (main === undefined) return [];
  const plain = asked(main);
  return [
    plain,
    { ...plain, as: 'acme' },
    { ...plain, as: 'other' },
    { ...plain, method: 'HEAD', as: 'acme' },
    { ...plain, method: 'DELETE' },
    { ...asked(main, '', { 'if-match': '"x"' }), ...BODY, method: 'PUT', as: 'acme' },
    { ...asked(main, '', { 'content-type': 'application/json' }), ...BODY, as: 'acme' },
    { ...asked(main, '', PREFLIGHT), method: 'OPTIONS' },
    { ...asked(main, '', { origin: ORIGIN }), as: 'acme' },
    asked(main, '', PROBLEM),
    { ...asked(main, '/a%2Fb/search?x=1&y'), as: 'acme' },
    {
      ...asked(main, '', { 'content-length': String(LARGE.length) }),
      method: 'PUT',
      body: LARGE,
      as: 'acme',
    },
    ...others.flatMap((way): Form[] => [{ ...asked(way, '/7'), as: 'acme' }]),
  ];
}

/** Requests that are refused before a version is chosen, and requests about the API itself. */
function strangeForms(api: ApiPlan): readonly Form[] {
  const labels = [...api.versions.keys()];
  const [one = '', other = one] = labels;
  const [main] = waysTo(api, one);
  if (main === undefined) return [];
  const spelled = [one.replace(/^v/, ''), 'v999', '1999-01-01', 'banana'].flatMap((label) =>
    waysTo(api, label),
  );
  const contrary = waysTo(api, one).flatMap((way) =>
    waysTo(api, other).map((second) => ({
      ...second,
      ...way,
      query: way.query || second.query,
      headers: { ...second.headers, ...way.headers },
    })),
  );
  const types = ['v999', one].flatMap((label) =>
    waysTo(api, label).flatMap(({ headers }) => headers.accept ?? []),
  );
  const page = `/.well-known/lifecycle/${api.name}`;
  return [
    ...[...spelled, ...contrary].map((way): Form => ({ ...asked(way), as: 'acme' })),
    asked(main, '', { accept: [...types, '*/*;q=0.1'].join(', ') }),
    asked(main, '', { authorization: 'Bearer one two' }),
    asked(main, '', { host: 'nobody.example.com' }),
    asked(main, '', { ...PROBLEM, host: '127.0.0.1:99999' }),
    asked(main, '/../x', PROBLEM),
    asked(main, '?access_token=canary'),
    ...api.hosts.filter((host) => !host.includes(VERSION)).map((host) => asked(main, '', { host })),
    { ...asked(main), method: 'PROPFIND' },
    ...BEYOND_BOUNDS.map((headers) => asked(main, '', headers)),
    asked(main, `?${'long'.repeat(2_500)}`),
    { path: '/nowhere' },
    { path: '/' },
    ...['/.well-known/api-catalog', page, `${page}.ics`].map((path) => ({ path })),
    { path: page, headers: { accept: 'text/html' } },
    { path: page, method: 'DELETE' },
  ];
}

/** Requests to a listener for plain HTTP that serves some APIs or none. */
export function plainRequestsOf(api: ApiPlan): readonly Form[] {
  const [label = ''] = api.versions.keys();
  const [main] = waysTo(api, label);
  if (main === undefined) return [];
  return [
    asked(main, '/a%2Fb?x=1'),
    { ...asked(main), as: 'acme' },
    { ...asked(main), ...BODY },
    asked(main, '?api_key=canary'),
    asked(main, '', { host: 'nobody.example.com' }),
    asked(main, '/../x'),
    { ...asked(main), method: 'PROPFIND' },
    { ...asked(main), method: 'HEAD' },
  ];
}

function requestTo({ operation }: VersionRules, main: Way): Ask {
  const [method = 'GET', template = ''] = operation?.split(' ') ?? [];
  const tail = template === '/' ? '' : template.replaceAll(/\{(\w+)\}/g, '$1-1');
  const ask = asked(main, tail);
  return method === 'POST' ? { ...ask, ...BODY } : { ...ask, method: method === '*' ? 'GET' : method };
}

function overTime({ name }: ApiPlan, rules: readonly VersionRules[], ask: Ask): readonly TimedRequest[] {
  // A version without an upstream is known only as of today.
  const since = Math.max(
    ...rules.map(({ upstream, schedule }) =>
      upstream === undefined ? (schedule.sunset ?? Number.NEGATIVE_INFINITY) : Number.NEGATIVE_INFINITY,
    ),
  );
  const dates = new Set(rules.flatMap(datesOf));
  const callers = [undefined, ...CALLERS];
  return [...dates].flatMap((date) =>
    [date - 1, date]
      .filter((at) => Number.isFinite(at) && at >= since)
      .flatMap((at) =>
        (at === date ? callers : CALLERS.slice(0, 1)).map((as) => ({
          api: name,
          at,
          ask,
          as,
          series:
            as === 'acme' ? `${ask.method ?? ''} ${ask.path} ${JSON.stringify(ask.headers)}` : undefined,
        })),
      ),
  );
}

function datesOf({ phases, exceptions, brownouts, schedule }: VersionRules): readonly EpochMs[] {
  const windows = Map.groupBy(brownouts?.planned ?? [], ({ rule }) => rule).values();
  return [
    ...phases.map(({ from }) => from),
    ...exceptions.flatMap((each) => [each.until, ...each.phases.map(({ from }) => from)]),
    ...(schedule.forgotten === undefined ? [] : [schedule.forgotten]),
    ...[...windows].flatMap(([first]) => (first === undefined ? [] : [first.from, first.until])),
  ];
}
