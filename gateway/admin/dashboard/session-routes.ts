// Routes for the session of the dashboard: sign in with the admin token, sign out, read the state.
import { type AdminAnswer, errorAnswer, jsonAnswer, malformedBody } from '../answers.ts';
import type { AdminRequest, AdminRoute, AdminWriteResult } from '../route.ts';
import type { AdminSessions } from './sessions.ts';

export interface SessionRules {
  readonly sessions: AdminSessions;
  readonly hasToken: (authorization: string | undefined) => boolean;
  /** Other machines can connect, so pages need a session. */
  readonly exposed: boolean;
}

const SESSION = '/-/session';

export function sessionRoutes({ sessions, hasToken, exposed }: SessionRules): readonly AdminRoute[] {
  return [
    {
      method: 'GET',
      path: SESSION,
      open: true,
      show: ({ cookie }) =>
        jsonAnswer(200, { signedIn: sessions.has(cookie), readable: !exposed || sessions.has(cookie) }),
    },
    {
      method: 'POST',
      path: SESSION,
      action: 'sign_in',
      open: true,
      perform: async (request) => signIn(request),
    },
    {
      method: 'DELETE',
      path: SESSION,
      action: 'sign_out',
      open: true,
      perform: async ({ cookie }) => ({ answer: withCookie(sessions.end(cookie), false), audit: {} }),
    },
  ];

  function signIn({ body, cookie }: AdminRequest): AdminWriteResult {
    const token = tokenIn(body);
    if (token === undefined)
      return { answer: malformedBody(['send {"token": "<the admin token>"}']), audit: {} };
    if (!hasToken(`Bearer ${token}`))
      return { answer: errorAnswer(401, 'This is not the admin token.'), audit: {} };
    sessions.end(cookie);
    return { answer: withCookie(sessions.begin(), true), audit: {} };
  }
}

function tokenIn(body: unknown): string | undefined {
  const token: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'token') : undefined;
  return typeof token === 'string' ? token : undefined;
}

function withCookie(cookie: string, signedIn: boolean): AdminAnswer {
  return { ...jsonAnswer(200, { signedIn }), headers: { 'set-cookie': cookie } };
}
