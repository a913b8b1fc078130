// Parses a Redis URL: one server, a cluster, or a primary behind sentinels; TLS and credentials.

export interface RedisServer {
  readonly host: string;
  readonly port: number;
}

export interface RedisLogin {
  readonly username: string | undefined;
  readonly password: string | undefined;
}

interface Connection {
  /** TLS, to the sentinels too. */
  readonly secure: boolean;
  /** At least one: the seed nodes of a cluster, or the sentinels. */
  readonly servers: readonly RedisServer[];
  /** For the servers that hold the data. */
  readonly login: RedisLogin;
}

export type RedisAddress =
  | (Connection & { readonly kind: 'single'; readonly database: number })
  | (Connection & { readonly kind: 'cluster' })
  | (Connection & {
      readonly kind: 'sentinel';
      readonly database: number;
      readonly primary: string;
      readonly sentinelLogin: RedisLogin;
    });

const URL_PARTS =
  /^(?<secure>rediss?)(?:\+(?<many>cluster|sentinel))?:\/\/(?:(?<logins>.*)@)?(?<servers>[^@/?#\s]+)(?<path>\/[^?#\s]*)?$/;
const SERVER = /^(?:\[(?<v6>[\da-f:.]+)\]|(?<name>[^:[\]]+))(?::(?<port>\d{1,5}))?$/i;
const DATABASE = /^\/?(\d{0,5})$/;
const PRIMARY = /^\/([\w.-]+)(?:\/(\d{1,5}))?$/;
const DEFAULT_PORTS = { single: 6379, cluster: 6379, sentinel: 26_379 } as const;
const NO_LOGIN: RedisLogin = { username: undefined, password: undefined };

/**
 * Reads `redis://user:password@host:port/1`, `redis+cluster://user:password@host:port,host:port` and
 * `redis+sentinel://user:password@host:port,host:port/primary/1`; with `rediss` by TLS. User, password, port
 * and database are optional. A second `user:password@` before sentinels is the login at the sentinels.
 * Undefined for any other URL, also for one with parameters: ioredis would read them as its own options.
 */
export function redisAddress(url: string): RedisAddress | undefined {
  const { secure, many: kind = 'single', logins, servers, path = '' } = URL_PARTS.exec(url)?.groups ?? {};
  if (kind !== 'single' && kind !== 'cluster' && kind !== 'sentinel') return undefined;
  const named = serversOf(servers, DEFAULT_PORTS[kind]);
  const [login, sentinelLogin, surplus] = loginsOf(logins, kind);
  if (named === undefined || login === undefined || surplus !== undefined) return undefined;
  const connection = { secure: secure === 'rediss', servers: named, login };
  const database = Number(DATABASE.exec(path)?.[1] ?? Number.NaN);
  switch (kind) {
    case 'single':
      return named.length > 1 || Number.isNaN(database) ? undefined : { kind, ...connection, database };
    case 'cluster':
      return database === 0 ? { kind, ...connection } : undefined;
    case 'sentinel': {
      const [, primary, number = 0] = PRIMARY.exec(path) ?? [];
      if (primary === undefined) return undefined;
      return {
        kind,
        ...connection,
        primary,
        database: Number(number),
        sentinelLogin: sentinelLogin ?? NO_LOGIN,
      };
    }
    default:
      return kind satisfies never;
  }
}

/** The URL without user and password, safe to print. */
export function withoutLogin(url: string): string {
  return url.replace(/:\/\/.*@/s, '://').replace(/[?#].*$/s, '');
}

export function serverName({ host, port }: RedisServer): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function serversOf(text: string | undefined, defaultPort: number): readonly RedisServer[] | undefined {
  const servers = text?.split(',').map((each): RedisServer | undefined => {
    const { v6, name, port } = SERVER.exec(each)?.groups ?? {};
    const host = v6 ?? name;
    const number = Number(port ?? defaultPort);
    return host === undefined || number < 1 || number > 65_535 ? undefined : { host, port: number };
  });
  return servers?.every((server) => server !== undefined) ? servers : undefined;
}

/** For one server and for a cluster the whole text is one login, so a password may contain `@`. */
function loginsOf(text: string | undefined, kind: RedisAddress['kind']): readonly (RedisLogin | undefined)[] {
  if (text === undefined) return [NO_LOGIN];
  return (kind === 'sentinel' ? text.split('@') : [text]).map(loginOf);
}

function loginOf(text: string): RedisLogin | undefined {
  const colon = text.indexOf(':');
  const [username, password] = colon < 0 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)];
  try {
    return {
      username: decodeURIComponent(username) || undefined,
      password: decodeURIComponent(password) || undefined,
    };
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
