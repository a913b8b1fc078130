// The pages of the sample client, as pure functions of a session; no page contains a token.
import { SAMPLE_PASSWORDS } from '../identity/sample-secrets.ts';
import type { Document } from '../service/document.ts';
import { type Html, html } from '../service/html.ts';
import type { Called, Session, SignedIn } from './sessions.ts';

/** The form policy allows `issuer`, since the sign-in form redirects there. */
export function startPage(session: Session | undefined, issuer: string): Document {
  return {
    title: 'Sample storefront',
    formsLeadTo: [new URL(issuer).origin],
    body: html`${noticeOf(session)}
${session?.signedIn === undefined ? signInForms(issuer) : signedInPart(session.signedIn, session.called)}`,
  };
}

function noticeOf(session: Session | undefined): Html | undefined {
  if (session?.notice === undefined) return undefined;
  const { kind, text } = session.notice;
  return kind === 'done' ? html`<p role="status">${text}</p>` : html`<p role="alert">${text}</p>`;
}

const people = Object.entries(SAMPLE_PASSWORDS)
  .map(([name, password]) => `${name} with ${password}`)
  .join(', ');

const signInForms = (issuer: string): Html => html`<p>This application shows your orders if you allow it.
It sends you to <b>${issuer}</b> and never sees your password.</p>
<form method="post" action="/login">
<button class="main" name="as" value="storefront">Sign in</button>
<button name="as" value="classic">Sign in without PKCE</button>
</form>
<p>Sample accounts: ${people}.</p>
<p><small>Without PKCE, a confidential client authenticates with its secret only, as the specification describes.</small></p>`;

function signedInPart({ registration, tokens, refreshed, used }: SignedIn, called: Called | undefined): Html {
  return html`<dl>
<dt>Client</dt><dd>${registration.id}, ${registration.pkce ? 'with PKCE' : 'without PKCE'}</dd>
<dt>May</dt><dd>${tokens.scope}</dd>
<dt>Access token</dt><dd>on the server of this page, valid until ${new Date(tokens.ends).toISOString().slice(0, 19)}Z</dd>
<dt>Refreshes</dt><dd id="refreshed">${refreshed}</dd>
</dl>
<h2>Call the API</h2>
<form method="post" action="/orders">
<button class="main" name="version" value="v2">Orders, v2</button>
<button name="version" value="v1">Orders, v1 (deprecated)</button>
</form>
${called === undefined ? undefined : calledPart(called)}
<h2>The session</h2>
<form class="row" method="post" action="/refresh"><button>Refresh</button></form>
${
  used === undefined
    ? undefined
    : html`<form class="row" method="post" action="/replay"><button>Use the old refresh token again, as a thief would</button></form>`
}
<form class="row" method="post" action="/logout"><button>Sign out</button></form>`;
}

const calledPart = ({ request, status, headers, body }: Called): Html => html`<section aria-label="Answer">
<p><b>${request}</b>: <b id="status">${status}</b></p>
<dl>
${headers.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}
</dl>
<pre tabindex="0">${body}</pre>
</section>`;

export function foreignOriginPage(): Document {
  return {
    title: 'Form from another page',
    body: html`<p role="alert">Another page sent this form. <a href="/">Start here</a> instead.</p>`,
  };
}
