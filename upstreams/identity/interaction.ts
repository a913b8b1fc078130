// Login and consent: GET shows the page, POST takes the form and passes the decision to oidc-provider.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { InteractionResults, Provider } from 'oidc-provider';
import { createAttempts } from '../service/attempts.ts';
import { sendDocument, sendSeeOther } from '../service/document.ts';
import { readForm } from '../service/form.ts';
import { isCrossSite } from '../service/own-host.ts';
import { authenticate } from './accounts.ts';
import { clientOf } from './clients.ts';
import { consentPage, expiredPage, loginPage, type Pending } from './interaction-pages.ts';
import { errors } from './library.ts';
import { addressOf } from './peer.ts';
import { RESOURCE } from './provider.ts';

type Details = Awaited<ReturnType<Provider['interactionDetails']>>;

export type InteractionHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

const MAX_ATTEMPTS = 5;
const WINDOW_MS = 60_000;
/** Longer names are cut, because the attempt counter keeps the name in its key. They match no account. */
const MAX_NAME_LENGTH = 64;

/** OAU-8, OAU-9: five password attempts per account and address, then 429 for the rest of the minute. */
export function createInteractions(provider: Provider, now: () => number): InteractionHandler {
  const { origin } = new URL(provider.issuer);
  const attempts = createAttempts({ most: MAX_ATTEMPTS, windowMs: WINDOW_MS, now });

  const finish = async (request: IncomingMessage, response: ServerResponse, result: InteractionResults) => {
    sendSeeOther(response, await provider.interactionResult(request, response, result));
  };

  const login = async (
    request: IncomingMessage,
    response: ServerResponse,
    pending: Pending,
    form: URLSearchParams,
  ) => {
    const name = (form.get('user') ?? '').trim().toLowerCase().slice(0, MAX_NAME_LENGTH);
    const key = `${name} ${addressOf(request)}`;
    const wait = attempts.take(key);
    if (wait !== undefined) {
      const alert = `Too many tries. Wait ${wait} seconds, then try again.`;
      return sendDocument(response, 429, loginPage(pending, { name, alert }), {
        'Retry-After': String(wait),
      });
    }
    const account = await authenticate(name, form.get('password') ?? '');
    if (account === undefined) {
      return sendDocument(
        response,
        401,
        loginPage(pending, { name, alert: 'The name or the password is wrong.' }),
      );
    }
    attempts.reset(key);
    if (pending.signedIn !== undefined && pending.signedIn !== account.id) {
      const alert = `This browser is signed in as ${pending.signedIn}. Sign out first.`;
      return sendDocument(response, 409, loginPage(pending, { name, alert }));
    }
    return finish(request, response, { login: { accountId: account.id } });
  };

  const consent = async (
    request: IncomingMessage,
    response: ServerResponse,
    pending: Pending,
    form: URLSearchParams,
  ) => {
    if (pending.signedIn === undefined) return sendDocument(response, 400, expiredPage());
    // Consent is exactly one field `decision` with the value `allow`.
    const decisions = form.getAll('decision');
    if (decisions.length !== 1 || decisions[0] !== 'allow') {
      return sendDocument(response, 400, consentPage(pending, 'Choose Allow or Do not allow.'));
    }
    // One grant per consent, so that revoking it affects only what this consent gave.
    const grant = new provider.Grant({ accountId: pending.signedIn, clientId: pending.client.id });
    grant.addResourceScope(RESOURCE, pending.scopes.join(' '));
    return finish(request, response, { consent: { grantId: await grant.save() } });
  };

  return async (request, response) => {
    const details = await findDetails(provider, request, response);
    const pending = details && pendingOf(details);
    if (details === undefined || pending === undefined) return sendDocument(response, 400, expiredPage());
    const page = details.prompt.name === 'login' ? loginPage(pending, { name: '' }) : consentPage(pending);
    if (request.method !== 'POST') return sendDocument(response, 200, page);
    const form = await readForm(request);
    if (form === undefined || isCrossSite(request, origin)) return sendDocument(response, 400, expiredPage());
    if (form.get('decision') === 'cancel') {
      return finish(request, response, { error: 'access_denied', error_description: 'the user refused' });
    }
    return details.prompt.name === 'login'
      ? login(request, response, pending, form)
      : consent(request, response, pending, form);
  };
}

/** Undefined if the interaction has ended, belongs to another browser, or belongs to another sign-in. */
async function findDetails(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Details | undefined> {
  try {
    return await provider.interactionDetails(request, response);
  } catch (error) {
    if (error instanceof errors.SessionNotFound) return undefined;
    throw error;
  }
}

function pendingOf({ params, session }: Details): Pending | undefined {
  const client = clientOf(String(params.client_id));
  if (client === undefined) return undefined;
  return {
    client,
    scopes: String(params.scope).split(' '),
    redirectUri: String(params.redirect_uri),
    signedIn: session?.accountId,
  };
}
