// A browser model for the sample issuer: keeps cookies by path, follows redirects within it, sends forms.
import { createHash } from 'node:crypto';
import type { Client } from './http-client.ts';

export const ISSUER = 'https://auth.example.com/auth';

/** `issuer` is its name, `url` where it listens. */
export interface Issuing {
  readonly issuer: string;
  readonly url: string;
  readonly endpoint: string;
  /** Default: the global fetch. */
  readonly fetch?: Fetch;
}

export type Fetch = (url: URL | string, init: RequestInit) => Promise<Response>;

/** Fetches through a client of the journeys, over TLS. */
export function fetchOver(client: Client): Fetch {
  return async (url, { method = 'GET', body, headers }) => {
    const { pathname, search } = new URL(url);
    const text = body instanceof URLSearchParams ? body.toString() : '';
    const fields = {
      ...Object.fromEntries(new Headers(headers)),
      ...(text !== '' && { 'content-type': 'application/x-www-form-urlencoded' }),
    };
    const answer = await client.ask({ path: `${pathname}${search}`, method, headers: fields, body: text });
    const lines = answer.lines.map(([name, value]): [string, string] => [name, value]);
    const empty = answer.body.length === 0;
    return new Response(empty ? null : answer.text, { status: answer.status, headers: lines });
  };
}

/** RFC 7636 appendix B. */
export const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
export const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

export type Parameters = Readonly<Record<string, string>>;

export interface Page {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The URL after all redirects, at the issuer or elsewhere. */
  readonly url: URL;
  readonly hops: readonly number[];
}

export interface Walker {
  /** GETs a path below the issuer and follows redirects within it. */
  readonly open: (path: string) => Promise<Page>;
  /** POSTs a form to the URL of its page. */
  readonly send: (page: Page, form: Parameters | string, headers?: Parameters) => Promise<Page>;
  readonly cookieLines: readonly string[];
}

export const AUTHORIZE: Parameters = {
  response_type: 'code',
  client_id: 'storefront',
  redirect_uri: 'http://127.0.0.1:4008/callback',
  scope: 'orders:read',
  state: 'a state',
  code_challenge: CHALLENGE,
  code_challenge_method: 'S256',
};

export const query = (parameters: Parameters): string => `/authorize?${new URLSearchParams(parameters)}`;

export function openBrowser(issuer: Issuing): Walker {
  const cookieLines: string[] = [];
  const jar = new Map<string, { readonly value: string; readonly path: string }>();
  const ask = async (url: URL, init: RequestInit): Promise<Response> => {
    const cookie = Array.from(jar)
      .filter(([, { path }]) => url.pathname.startsWith(path))
      .map(([name, { value }]) => `${name}=${value}`);
    const at = new URL(`${url.pathname}${url.search}`, issuer.url);
    const headers = { accept: 'text/html', ...(cookie.length > 0 && { cookie: cookie.join('; ') }) };
    const reach = issuer.fetch ?? fetch;
    const answer = await reach(at, { ...init, headers: { ...headers, ...init.headers }, redirect: 'manual' });
    for (const line of answer.headers.getSetCookie()) keep(line);
    return answer;
  };
  const keep = (line: string): void => {
    cookieLines.push(line);
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    const path = /; path=([^;]+)/.exec(line)?.[1] ?? '/';
    if (value === '') jar.delete(name);
    else jar.set(name, { value, path });
  };
  const follow = async (url: URL, init: RequestInit, hops: readonly number[]): Promise<Page> => {
    if (url.origin !== new URL(issuer.issuer).origin) {
      return { status: 0, headers: new Headers(), text: '', url, hops };
    }
    const answer = await ask(url, init);
    const to = answer.headers.get('location');
    const text = await answer.text();
    if (to === null) return { status: answer.status, headers: answer.headers, text, url, hops };
    return follow(new URL(to, url), {}, [...hops, answer.status]);
  };
  return {
    open: (path) => follow(new URL(`${issuer.issuer}${path}`), {}, []),
    send: (page, form, headers = {}) =>
      follow(page.url, { method: 'POST', body: new URLSearchParams(form), headers }, []),
    cookieLines,
  };
}

/** Signs in as ana, gives consent if asked, and returns the final redirect URL. */
export async function walk(browser: Walker, parameters: Parameters = AUTHORIZE): Promise<URL> {
  let page = await browser.open(query(parameters));
  if (page.text.includes('name="password"')) {
    page = await browser.send(page, { user: 'ana', password: 'sunrise-sample', decision: 'sign-in' });
  }
  if (page.text.includes('value="allow"')) page = await browser.send(page, { decision: 'allow' });
  return page.url;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

export async function post(
  issuer: Issuing,
  path: string,
  form: Parameters | string,
  headers: Parameters = {},
): Promise<Answer> {
  const body = new URLSearchParams(form);
  const answer = await (issuer.fetch ?? fetch)(`${issuer.endpoint}${path}`, {
    method: 'POST',
    body,
    headers,
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === '' ? {} : JSON.parse(text) };
}

export const STOREFRONT: Parameters = {
  client_id: 'storefront',
  client_secret: 'storefront-sample-secret',
};

/** The form that redeems the code from `walk`. */
export const redemption = (callback: URL, more: Parameters = {}): Parameters => ({
  grant_type: 'authorization_code',
  code: callback.searchParams.get('code') ?? '',
  redirect_uri: AUTHORIZE.redirect_uri ?? '',
  code_verifier: VERIFIER,
  ...STOREFRONT,
  ...more,
});
