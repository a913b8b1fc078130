// The routes that every service of test/paths has, and the policies that protect them.
// A service answers `reached <name>`: by that a test sees which handler a spelling came to.

export interface Route {
  readonly name: string;
  /** As an operation of a policy; undefined for a route that only the API's own rules cover. */
  readonly operation: string | undefined;
  /** The plain spelling, below the API's base. */
  readonly path: string;
}

export const ROUTES: readonly Route[] = [
  { name: 'item', operation: 'GET /items/{id}', path: '/items/7' },
  { name: 'payments', operation: 'GET /items/{id}/payments', path: '/items/7/payments' },
  { name: 'admin', operation: '* /admin/{id}', path: '/admin/7' },
  { name: 'export', operation: 'GET /export', path: '/export' },
  { name: 'purge', operation: 'GET /users:purge', path: '/users:purge' },
  { name: 'metadata', operation: 'GET /$metadata', path: '/$metadata' },
  { name: 'me', operation: 'GET /@me', path: '/@me' },
  // A literal beside a parameter: what is not the literal for a service is the parameter's.
  { name: 'status', operation: 'GET /pages/$status', path: '/pages/$status' },
  { name: 'page', operation: 'GET /pages/{name}', path: '/pages/home' },
  { name: 'files', operation: undefined, path: '/files/a/b' },
];

/** Below `/mono`, where `/mono/secure` is another API's base. */
export const MONO_ROUTES: readonly Route[] = [
  { name: 'mono', operation: undefined, path: '/x' },
  { name: 'secure', operation: undefined, path: '/secure/x' },
  { name: 'secure', operation: undefined, path: '/secure' },
];

/** What the token of the tests must hold for the protected routes. */
export const SCOPE = 'paths:all';

const PUBLIC = ['item', 'status'];
const GONE = { deprecated: '2024-01-15', sunset: '2025-01-15', guide: 'https://docs.example.com/export' };

const rule = ({ name }: Route): object =>
  PUBLIC.includes(name) ? { access: 'public' } : name === 'export' ? GONE : { access: { scopes: [SCOPE] } };

const OPERATIONS = {
  ...Object.fromEntries(ROUTES.flatMap((route) => (route.operation ? [[route.operation, rule(route)]] : []))),
  'POST /items/{id}': { access: 'public' },
  'DELETE /items/{id}': { access: { scopes: [SCOPE] } },
};

export interface MountedService {
  /** The first segment of its APIs' bases, and a part of their names. */
  readonly label: string;
  readonly url: string;
  /** What every API of it says beside its rules, such as `paths`. */
  readonly extra: Readonly<Record<string, unknown>>;
}

/** What a caller holds: nothing, a token, or a token with the scope. */
export type Holds = 'nothing' | 'token' | 'scope';

export interface MountedApi {
  readonly name: string;
  readonly base: string;
  /** Where `base` begins in the service. */
  readonly below: string;
  readonly routes: readonly Route[];
  /** Whether the policy lets such a caller come to a handler at all. */
  readonly mayReach: (handler: string, holds: Holds) => boolean;
  /** The policy files, as documents. */
  readonly policies: readonly Readonly<Record<string, unknown>>[];
}

/** An API for every token, one for the scope alone, and a protected base below a public one. */
export function apisOf({ label, url, extra }: MountedService): readonly MountedApi[] {
  const scoped = { identity: 'main', scopes: { read: [SCOPE], write: [SCOPE] } };
  const api = (name: string, rest: object) => ({
    api: `${label}-${name.replace('/', '-')}`,
    base: `/${label}/${name}`,
    ...extra,
    ...rest,
  });
  const versioned = (name: string, access: unknown) =>
    api(name, {
      access,
      resolve: [{ header: 'API-Version' }, { default: 'v1' }],
      upstreams: { v1: { targets: [url], path: '/' } },
      versions: { v1: { released: '2024-01-01', operations: OPERATIONS } },
    });
  const unversioned = (name: string, access: unknown) =>
    api(name, { access, upstreams: { any: { targets: [url], path: `/${name}` } }, versions: 'none' });
  // What is past its sunset is gone for every caller.
  const isGone = (handler: string) => handler === 'export';
  return [
    {
      name: 'open',
      base: `/${label}/open`,
      below: '',
      routes: ROUTES,
      mayReach: (handler, holds) =>
        PUBLIC.includes(handler) ||
        (!isGone(handler) && (holds === 'scope' || (holds === 'token' && handler === 'files'))),
      policies: [versioned('open', { identity: 'main', scopes: 'any' })],
    },
    {
      name: 'closed',
      base: `/${label}/closed`,
      below: '',
      routes: ROUTES,
      mayReach: (handler, holds) => PUBLIC.includes(handler) || (!isGone(handler) && holds === 'scope'),
      policies: [versioned('closed', scoped)],
    },
    {
      name: 'mono',
      base: `/${label}/mono`,
      below: '/mono',
      routes: MONO_ROUTES,
      mayReach: (handler, holds) => handler === 'mono' || holds === 'scope',
      policies: [unversioned('mono', 'public'), unversioned('mono/secure', scoped)],
    },
  ];
}
