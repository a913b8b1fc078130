// Sessions of the sample client, kept in this process so that the browser has a cookie and never a token.
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Pending, Registration, Tokens } from './oauth.ts';

export interface Session {
  readonly pending?: Pending;
  readonly signedIn?: SignedIn;
  /** Shown once. */
  readonly notice?: { readonly kind: 'done' | 'wrong'; readonly text: string };
  readonly called?: Called;
}

export interface SignedIn {
  readonly registration: Registration;
  readonly tokens: Tokens;
  /** The refresh token that was used last. An honest client never sends it again. */
  readonly used?: string;
  readonly refreshed: number;
}

export interface Called {
  readonly request: string;
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Indented JSON. */
  readonly body: string;
}

/** Methods that change the cookie return a `Set-Cookie` value. */
export interface Sessions {
  readonly find: (request: IncomingMessage) => Session | undefined;
  /** Stores the session under a new id and deletes the old one, so that an id known before sign-in is useless afterwards. */
  readonly renew: (request: IncomingMessage, session: Session) => string;
  /** False if the request has no session. */
  readonly update: (request: IncomingMessage, session: Session) => boolean;
  /**
   * Runs the steps of one session one after the other. Two concurrent clicks would use one code or refresh token twice, and the
   * issuer revokes a sign-in for that.
   */
  readonly runExclusive: (request: IncomingMessage, step: () => Promise<void>) => Promise<void>;
  readonly forget: (request: IncomingMessage) => string;
}

const COOKIE = 'client_session';
/** Lax: the browser must send the cookie when the issuer redirects it back. */
const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Lax';
const MAX = 1000;

export function createSessions(): Sessions {
  const sessions = new Map<string, Session>();
  const queues = new Map<string, Promise<void>>();
  const idOf = (request: IncomingMessage): string | undefined => {
    const found = new RegExp(`(?:^|; )${COOKIE}=([\\w-]+)`).exec(request.headers.cookie ?? '');
    return found?.[1];
  };
  return {
    find: (request) => sessions.get(idOf(request) ?? ''),
    renew(request, session) {
      sessions.delete(idOf(request) ?? '');
      const id = randomBytes(32).toString('base64url');
      sessions.set(id, session);
      const [oldest] = sessions.keys();
      if (sessions.size > MAX && oldest !== undefined) sessions.delete(oldest);
      return `${COOKIE}=${id}; ${ATTRIBUTES}`;
    },
    update(request, session) {
      const id = idOf(request);
      if (id === undefined || !sessions.has(id)) return false;
      sessions.set(id, session);
      return true;
    },
    async runExclusive(request, step) {
      const id = idOf(request) ?? '';
      if (!sessions.has(id)) return step();
      const queued = (queues.get(id) ?? Promise.resolve()).then(step, step);
      queues.set(id, queued);
      await queued.finally(() => {
        if (queues.get(id) === queued) queues.delete(id);
      });
    },
    forget(request) {
      sessions.delete(idOf(request) ?? '');
      return `${COOKIE}=; ${ATTRIBUTES}; Max-Age=0`;
    },
  };
}
