// The sample client's HTTP server; every change is a form and ends in a redirect back to the page.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { SAMPLE_CLIENT_SECRETS } from '../identity/sample-secrets.ts';
import { sendError } from '../service/answer.ts';
import { sendDocument, sendSeeOther } from '../service/document.ts';
import { readForm } from '../service/form.ts';
import { listen, type Service } from '../service/listen.ts';
import { isCrossSite } from '../service/own-host.ts';
import { createActions, type Outcome } from './actions.ts';
import { createAsk } from './ask.ts';
import { createOAuth, type Registration } from './oauth.ts';
import { foreignOriginPage, startPage } from './pages.ts';
import { createSessions, type Session } from './sessions.ts';

export interface ClientOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Absolute URL of the issuer, at the gateway whose APIs are called. */
  readonly issuer: string;
  /** PEM file with the gateway's certificate; if it is missing, the system's certificates count. */
  readonly trusted: string;
  /** Epoch milliseconds; default the system clock. */
  readonly now?: () => number;
}

const registrationOf = (id: string, pkce: boolean): Registration => ({
  id,
  secret: SAMPLE_CLIENT_SECRETS[id] ?? '',
  pkce,
});

const REGISTRATIONS: ReadonlyMap<string, Registration> = new Map([
  ['storefront', registrationOf('storefront', true)],
  ['classic', registrationOf('classic', false)],
]);

/** The redirect matches no sign-in of this browser. */
const UNKNOWN_SIGN_IN: Session = {
  notice: { kind: 'wrong', text: 'That sign-in was not started in this browser. Nothing was done.' },
};

/** Rejects if the port is taken. The gateway may start later. */
export async function startClient(options: ClientOptions): Promise<Service> {
  const { port, host = '127.0.0.1', issuer, trusted, now = () => Date.now() } = options;
  const sessions = createSessions();
  let self = '';
  const ask = createAsk(trusted);
  const oauth = createOAuth({ issuer, ask, now, self: () => self });
  const actions = createActions({ oauth, ask, api: new URL(issuer).origin, now });

  const finish = (request: IncomingMessage, response: ServerResponse, outcome: Outcome): void => {
    switch (outcome.kind) {
      case 'stay':
        if (!sessions.update(request, outcome.session)) {
          response.setHeader('Set-Cookie', sessions.renew(request, outcome.session));
        }
        break;
      case 'renew':
        response.setHeader('Set-Cookie', sessions.renew(request, outcome.session));
        break;
      case 'sign-out':
        response.setHeader('Set-Cookie', sessions.forget(request));
        break;
      default: {
        const never: never = outcome;
        throw new Error(`unhandled outcome ${String(never)}`);
      }
    }
    sendSeeOther(response, outcome.to);
  };

  const show = (request: IncomingMessage, response: ServerResponse, session: Session | undefined): void => {
    sendDocument(response, 200, startPage(session, issuer));
    if (session?.notice === undefined) return;
    const { notice: _shown, ...rest } = session;
    sessions.update(request, rest);
  };

  const handleForm = async (
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const form = await readForm(request);
    if (form === undefined || isCrossSite(request, self))
      return sendDocument(response, 400, foreignOriginPage());
    const registration = REGISTRATIONS.get(form.get('as') ?? '');
    const session = sessions.find(request) ?? {};
    if (path === '/login' && registration !== undefined) {
      const [state, verifier] = [token(), token()];
      return finish(request, response, await actions.signIn({ registration, state, verifier }));
    }
    if (path === '/logout') return finish(request, response, await actions.signOut(session));
    if (path === '/orders') {
      return finish(request, response, await actions.call(session, form.get('version') ?? ''));
    }
    if (path === '/refresh') return finish(request, response, await actions.refresh(session));
    if (path === '/replay') return finish(request, response, await actions.replay(session));
    return sendError(response, 404, 'There is no such resource');
  };

  const handleCallback = async (
    sent: URLSearchParams,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const pending = sessions.find(request)?.pending;
    if (pending === undefined || !isSame(sent.get('state'), pending.state)) {
      return sendDocument(response, 400, startPage(UNKNOWN_SIGN_IN, issuer));
    }
    return finish(request, response, await actions.complete(pending, sent, issuer));
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [path = '', query = ''] = (request.url ?? '').split(/\?(.*)/s);
    if (request.method === 'POST')
      return sessions.runExclusive(request, () => handleForm(path, request, response));
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return sendError(response, 405, `${request.method} is not supported here`, {
        Allow: 'GET, HEAD, POST',
      });
    }
    // The issuer redirects to this host name. Under another name the browser would not send the cookie then.
    if (request.headers.host !== new URL(self).host) return sendSeeOther(response, `${self}/`);
    if (path === '/') return show(request, response, sessions.find(request));
    if (path !== '/callback' || request.method !== 'GET') {
      return sendError(response, 404, 'There is no such resource');
    }
    return sessions.runExclusive(request, () =>
      handleCallback(new URLSearchParams(query), request, response),
    );
  };

  const service = await listen(
    (request, response) => {
      answer(request, response).catch((error: unknown) => {
        if (request.destroyed && !request.complete) return;
        process.stderr.write(`client: ${error instanceof Error ? (error.stack ?? error.message) : error}\n`);
        if (response.headersSent) response.destroy();
        else sendError(response, 500, 'The service failed');
      });
    },
    { port, host },
  );
  self = `http://127.0.0.1:${service.port}`;
  return { ...service, url: self };
}

/** 256 random bits; as a verifier 43 characters (RFC 7636 §4.1). */
function token(): string {
  return randomBytes(32).toString('base64url');
}

function isSame(shown: string | null, expected: string): boolean {
  const [one, other] = [Buffer.from(shown ?? ''), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
