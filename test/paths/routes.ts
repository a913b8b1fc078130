// The routes of every service in test/paths, which respond with `reached <name>`, and their policies.

export interface Route {
  readonly name: string;
  /** As an operation of a policy. Undefined: only the rules of the API cover it. */
  readonly operation: string | undefined;
  /** The plain spelling, below the base of the API. */
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
  // A literal beside a parameter: other spellings of the literal may match the parameter.
  { name: 'status', operation: 'GET /pages/$status', path: '/pages/$status' },
  { name: 'page', operation: 'GET /pages/{name}', path: '/pages/home' },
  { name: 'files', operation: undefined, path: '/files/a/b' },
];

/** Below `/mono`. `/mono/secure` is the base of another API. */
export const MONO_ROUTES: readonly Route[] = [
  { name: 'mono', operation: undefined, path: '/x' },
  { name: 'secure', operation: undefined, path: '/secure/x' },
  { name: 'secure', operation: undefined, path: '/secure' },
];

/** The scope that protected routes require. */
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
  /** The first segment of the bases of its APIs, and a part of their names. */
  readonly label: string;
  readonly url: string;
  /** Further keys of each of its APIs, such as `paths`. */
  readonly extra: Readonly<Record<string, unknown>>;
}

/** The credentials of a caller. `token`: without the scope. */
export type Holds = 'nothing' | 'token' | 'scope';

export interface MountedApi {
  readonly name: string;
  readonly base: string;
  /** The path of `base` in the service. */
  readonly below: string;
  readonly routes: readonly Route[];
  /** Whether the policy permits such a caller to reach the handler. */
  readonly mayReach: (handler: string, holds: Holds) => boolean;
  /** The policy files. */
  readonly policies: readonly Readonly<Record<string, unknown>>[];
}

/** An API that needs a token, one that needs the scope, and a protected base below a public one. */
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
  // Past its sunset for every caller.
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
