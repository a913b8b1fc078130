// Sessions of the dashboard, kept in this process and named by a cookie that scripts cannot read.
import { createHash } from 'node:crypto';
import type { MonotonicMs } from '../../policy/contract.ts';

export interface AdminSessions {
  /** Starts a session. Returns the value of `Set-Cookie`. */
  readonly begin: () => string;
  /** Returns whether a `Cookie` field names a running session. */
  readonly has: (cookie: string | undefined) => boolean;
  /** Ends the sessions that the field names. Returns the `Set-Cookie` that removes the cookie. */
  readonly end: (cookie: string | undefined) => string;
}

export interface SessionPorts {
  readonly monotonic: () => MonotonicMs;
  /** Returns cryptographically random octets, encoded for a cookie. */
  readonly random: (bytes: number) => string;
}

const NAME = 'sundial_session';
/** Cookies ignore the port. The path keeps this one from other services of the host. */
const WHERE = 'Path=/-/; HttpOnly; SameSite=Strict';
const ID_BYTES = 32;
const LASTS_S = 12 * 60 * 60;
const MAX = 100;

export function createSessions({ monotonic, random }: SessionPorts): AdminSessions {
  /** The end of each session by the digest of its id, so that the time of a look-up reveals no id. */
  const ends = new Map<string, number>();
  const forgetOver = (): void => {
    for (const [key, end] of ends) if (end <= monotonic()) ends.delete(key);
  };
  return {
    begin: () => {
      forgetOver();
      const [oldest] = ends.keys();
      if (ends.size >= MAX && oldest !== undefined) ends.delete(oldest);
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

/** RFC 6265 section 4.2.1. Another service of the host may have set a cookie of the same name. */
function idsIn(cookie = ''): readonly string[] {
  return cookie
    .split('; ')
    .flatMap((pair) => (pair.startsWith(`${NAME}=`) ? [pair.slice(NAME.length + 1)] : []));
}

function digest(id: string): string {
  return createHash('sha256').update(id).digest('base64');
}
