// Parses a Redis URL: one server, a cluster, or sentinels that know the primary; TLS and credentials.

export interface RedisServer {
  readonly host: string;
  readonly port: number;
}

export interface RedisLogin {
  readonly username: string | undefined;
  readonly password: string | undefined;
}

interface Reached {
  /** TLS, to the sentinels too. */
  readonly secure: boolean;
  /** At least one. Of a cluster those that are asked first, of sentinels the sentinels. */
  readonly servers: readonly RedisServer[];
  /** At the servers that hold the data. */
  readonly login: RedisLogin;
}

export type RedisAddress =
  | (Reached & { readonly kind: 'single'; readonly database: number })
  | (Reached & { readonly kind: 'cluster' })
  | (Reached & {
      readonly kind: 'sentinel';
      readonly database: number;
      /** The name by which the sentinels know the primary. */
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
 * `redis://user:password@host:port/1`, `redis+cluster://user:password@host:port,host:port`,
 * `redis+sentinel://user:password@host:port,host:port/primary/1`; with `rediss` by TLS. User, password, port and database
 * may be absent. A second `user:password@` before sentinels is the one of the sentinels themselves. Undefined for what is
 * none of these: parameters too, which the client would take for options of its own.
 */
export function redisAddress(url: string): RedisAddress | undefined {
  const { secure, many: kind = 'single', logins, servers, path = '' } = URL_PARTS.exec(url)?.groups ?? {};
  if (kind !== 'single' && kind !== 'cluster' && kind !== 'sentinel') return undefined;
  const named = serversOf(servers, DEFAULT_PORTS[kind]);
  const [login, sentinelLogin, surplus] = loginsOf(logins, kind);
  if (named === undefined || login === undefined || surplus !== undefined) return undefined;
  const reached = { secure: secure === 'rediss', servers: named, login };
  const database = Number(DATABASE.exec(path)?.[1] ?? Number.NaN);
  switch (kind) {
    case 'single':
      return named.length > 1 || Number.isNaN(database) ? undefined : { kind, ...reached, database };
    case 'cluster':
      return database === 0 ? { kind, ...reached } : undefined;
    case 'sentinel': {
      const [, primary, number = 0] = PRIMARY.exec(path) ?? [];
      if (primary === undefined) return undefined;
      return {
        kind,
        ...reached,
        primary,
        database: Number(number),
        sentinelLogin: sentinelLogin ?? NO_LOGIN,
      };
    }
    default:
      return kind satisfies never;
  }
}

/** Without user and password: what may be shown. */
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

/** Of one server and of a cluster the whole text is one login, whatever its password is made of. */
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
