// Who is signed in to the dashboard: sessions of this process, each named by a cookie that no script can read.
import { createHash } from 'node:crypto';
import type { MonotonicMs } from '../../policy/contract.ts';

export interface AdminSessions {
  /** The value of `Set-Cookie` for a session that begins now. */
  readonly begin: () => string;
  /** Whether a `Cookie` field names a session that runs. */
  readonly has: (cookie: string | undefined) => boolean;
  /** Ends those that the field names; the value of `Set-Cookie` that takes the cookie away. */
  readonly end: (cookie: string | undefined) => string;
}

export interface SessionPorts {
  /** Milliseconds. */
  readonly monotonic: () => MonotonicMs;
  /** Too many bytes to guess, encoded for a cookie. */
  readonly random: (bytes: number) => string;
}

const NAME = 'sundial_session';
/** Cookies know no ports: whatever else runs under the same name is sent this one for no path of its own. */
const WHERE = 'Path=/-/; HttpOnly; SameSite=Strict';
const ID_BYTES = 32;
const LASTS_S = 12 * 60 * 60;
const MOST = 100;

export function createSessions({ monotonic, random }: SessionPorts): AdminSessions {
  /** When each ends, by the digest of its id: how long a look takes tells nothing of an id. */
  const ends = new Map<string, number>();
  const forgetOver = (): void => {
    for (const [key, end] of ends) if (end <= monotonic()) ends.delete(key);
  };
  return {
    begin: () => {
      forgetOver();
      const [oldest] = ends.keys();
      if (ends.size >= MOST && oldest !== undefined) ends.delete(oldest);
      const id = random(ID_BYTES);
      ends.set(digest(id), monotonic() + LASTS_S * 1000);
      return `${NAME}=${id}; ${WHERE}; Max-Age=${LASTS_S}`;
    },
    has: (cookie) => idsIn(cookie).some((id) => (ends.get(digest(id)) ?? 0) > monotonic()),
    end: (cookie) => {
      for (const id of idsIn(cookie)) ends.delete(digest(id));
      return `${NAME}=; ${WHERE}; Max-Age=0`;
    },
  };
}

/** RFC 6265 section 4.2.1; another program of the same host may have set one of that name, too. */
function idsIn(cookie = ''): readonly string[] {
  return cookie
    .split('; ')
    .flatMap((pair) => (pair.startsWith(`${NAME}=`) ? [pair.slice(NAME.length + 1)] : []));
}

function digest(id: string): string {
  return createHash('sha256').update(id).digest('base64');
}
