// The pages that oidc-provider asks for: errors that must not be sent to a client, and signing out.
import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import { type Document, renderDocument } from '../service/document.ts';
import { html } from '../service/html.ts';
import { MOUNT } from './environment.ts';

const WORDS: Readonly<Record<string, string>> = {
  invalid_client: 'The application that sent you here is unknown.',
  invalid_redirect_uri: 'The application has not registered the address to return to.',
};

/** OAU-1: an unknown client or redirect URI gets this page and no redirect. */
export function renderError(context: KoaContextWithOIDC, out: ErrorOut): void {
  show(context, {
    title: 'This sign-in cannot continue',
    body: html`<p role="alert">${WORDS[out.error] ?? out.error_description ?? ''} <small>(${out.error})</small></p>
<p>Nothing was granted, and the application was not notified. Go back to it and start again. If it happens
again, its developers must correct it.</p>`,
  });
}

/** `form` is oidc-provider's own, with its CSRF token. The buttons belong to it by its id. */
export function renderSignOut(context: KoaContextWithOIDC, form: string): void {
  const leadsTo = context.oidc.session?.state?.postLogoutRedirectUri;
  show(context, {
    title: 'Sign out?',
    body: html`${{ html: form }}
<p>You are signed in as <b>${context.oidc.session?.accountId}</b>. Applications keep what you allowed them until you sign out there, too.</p>
<button class="main" form="op.logoutForm" type="submit" name="logout" value="yes">Sign out</button>
<button form="op.logoutForm" type="submit">Stay signed in</button>`,
    formsLeadTo: typeof leadsTo === 'string' ? [new URL(leadsTo).origin] : [],
  });
}

/**
 * A middleware. If no user is signed in, the library sends a page whose script submits a form. This page has the same form with a
 * button, if there is a client to return to.
 */
export async function renderSignOutWithoutSession(
  context: KoaContextWithOIDC,
  next: () => Promise<unknown>,
): Promise<void> {
  await next();
  const session = context.oidc?.session;
  if (context.oidc?.route !== 'end_session' || context.status !== 200) return;
  if (session === undefined || session.accountId !== undefined) return;
  const { secret, postLogoutRedirectUri: leadsTo } = session.state ?? {};
  const isAsked = typeof leadsTo === 'string';
  show(context, {
    title: 'You are not signed in',
    body: html`<p role="status">This browser is not signed in at ${new URL(context.oidc.issuer).host}${MOUNT}.</p>
${
  isAsked
    ? html`<form method="post" action="${MOUNT}/logout/confirm">
<input type="hidden" name="xsrf" value="${String(secret)}">
<button class="main" type="submit" name="logout" value="yes">Back to the application</button>
</form>`
    : undefined
}`,
    formsLeadTo: isAsked ? [new URL(leadsTo).origin] : [],
  });
}

export function renderSignedOut(context: KoaContextWithOIDC): void {
  show(context, {
    title: 'You are signed out',
    body: html`<p role="status">This browser is signed out of ${new URL(context.oidc.issuer).host}${MOUNT}.</p>`,
  });
}

function show(context: KoaContextWithOIDC, document: Document): void {
  const { text, headers } = renderDocument(document);
  context.set({ ...headers });
  context.body = text;
}
