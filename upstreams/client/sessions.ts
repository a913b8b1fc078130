// Who is signed in at the sample client: kept here, in the process, so that the browser has a cookie and never a token.
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Pending, Registration, Tokens } from './oauth.ts';

export interface Session {
  /** A sign-in that was begun. */
  readonly pending?: Pending;
  readonly signedIn?: SignedIn;
  /** Shown once. */
  readonly notice?: { readonly kind: 'done' | 'wrong'; readonly text: string };
  /** What the last call of an API was answered. */
  readonly called?: Called;
}

export interface SignedIn {
  readonly registration: Registration;
  readonly tokens: Tokens;
  /** The refresh token that was used up last: no good to an honest client. */
  readonly used?: string;
  readonly refreshed: number;
}

export interface Called {
  readonly request: string;
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** JSON, indented. */
  readonly body: string;
}

/** What changes the cookie says so as a `Set-Cookie` line. */
export interface Sessions {
  /** The session that a request belongs to, if it has one. */
  readonly find: (request: IncomingMessage) => Session | undefined;
  /** Keeps a session under a new name, and forgets the old one: what was known before signing in is worth nothing after. */
  readonly renew: (request: IncomingMessage, session: Session) => string;
  /** False when the request has no session to update. */
  readonly update: (request: IncomingMessage, session: Session) => boolean;
  /**
   * Runs one step of a session after the other: two clicks at once would be two uses of one code or refresh token, and the
   * issuer ends a sign-in for that.
   */
  readonly inTurn: (request: IncomingMessage, step: () => Promise<void>) => Promise<void>;
  readonly forget: (request: IncomingMessage) => string;
}

const COOKIE = 'client_session';
/** Lax: it has to come along when the issuer sends the browser back. */
const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Lax';
const MOST = 1000;

export function createSessions(): Sessions {
  const sessions = new Map<string, Session>();
  const turns = new Map<string, Promise<void>>();
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
      if (sessions.size > MOST && oldest !== undefined) sessions.delete(oldest);
      return `${COOKIE}=${id}; ${ATTRIBUTES}`;
    },
    update(request, session) {
      const id = idOf(request);
      if (id === undefined || !sessions.has(id)) return false;
      sessions.set(id, session);
      return true;
    },
    async inTurn(request, step) {
      const id = idOf(request) ?? '';
      if (!sessions.has(id)) return step();
      const turn = (turns.get(id) ?? Promise.resolve()).then(step, step);
      turns.set(id, turn);
      await turn.finally(() => {
        if (turns.get(id) === turn) turns.delete(id);
      });
    },
    forget(request) {
      sessions.delete(idOf(request) ?? '');
      return `${COOKIE}=; ${ATTRIBUTES}; Max-Age=0`;
    },
  };
}
