// The pages for login and consent, as pure functions.
import type { Document } from '../service/document.ts';
import { html } from '../service/html.ts';
import { type Client, SCOPES } from './clients.ts';
import { MOUNT } from './environment.ts';

export interface Pending {
  readonly client: Client;
  readonly scopes: readonly string[];
  /** A registered redirect URI of the client. */
  readonly redirectUri: string;
  readonly signedIn: string | undefined;
}

/** `alert`: the error of the previous submission. */
export function loginPage(
  pending: Pending,
  entered: { readonly name: string; readonly alert?: string },
): Document {
  const described = entered.alert === undefined ? undefined : html` aria-describedby="wrong"`;
  const focus = html` autofocus`;
  return {
    title: 'Sign in',
    formsLeadTo: [new URL(pending.redirectUri).origin],
    body: html`<p><b>${pending.client.name}</b> asks you to sign in.</p>
${entered.alert === undefined ? undefined : html`<p role="alert" id="wrong">${entered.alert}</p>`}
<form method="post">
<label for="user">Name</label>
<input id="user" name="user" value="${entered.name}" autocomplete="username" autocapitalize="none" spellcheck="false" required${entered.name === '' ? focus : undefined}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${described}${entered.name === '' ? undefined : focus}>
<button class="main" type="submit" name="decision" value="sign-in">Sign in</button>
<button type="submit" name="decision" value="cancel" formnovalidate>Cancel</button>
</form>
${pending.signedIn === undefined ? undefined : html`<p><a href="${MOUNT}/logout">Sign out ${pending.signedIn}</a></p>`}`,
  };
}

/** `alert`: the error of the previous submission. */
export function consentPage({ client, scopes, redirectUri, signedIn }: Pending, alert?: string): Document {
  const { origin } = new URL(redirectUri);
  return {
    title: `Allow ${client.name}?`,
    formsLeadTo: [origin],
    body: html`<p>You are signed in as <b>${signedIn}</b>. <b>${client.name}</b> asks to:</p>
<ul>
${scopes.map((scope) => html`<li>${SCOPES[scope] ?? scope} <small>(${scope})</small></li>`)}
</ul>
<p>Your answer goes to <b>${origin}</b>.</p>
${alert === undefined ? undefined : html`<p role="alert">${alert}</p>`}
<form method="post">
<button class="main" type="submit" name="decision" value="allow">Allow</button>
<button type="submit" name="decision" value="cancel">Do not allow</button>
</form>`,
  };
}

export function expiredPage(): Document {
  return {
    title: 'This sign-in is over',
    body: html`<p role="alert">It was finished, took longer than ten minutes, or began in another browser.</p>
<p>Go back to the application you came from and begin again. The browser has to accept cookies of this site.</p>`,
  };
}
