// Decides which requests the admin listener accepts, before their bodies are read.
import { isIP } from 'node:net';
import { preferredType } from '../policy/versioning/accept.ts';
import { type AdminAnswer, errorAnswer } from './answers.ts';
import { type AdminRoute, type AdminRouteMatch, matchRoute } from './route.ts';

export interface AccessRules {
  readonly routes: readonly AdminRoute[];
  readonly notFound?: AdminAnswer | undefined;
  /** As configured. Undefined: every interface. */
  readonly boundHost: string | undefined;
  /** Accepts any Host, for clients that know this machine by another name. Every page must be open. */
  readonly anyHost: boolean;
  /** Other machines can connect, so every page that is not open needs the token. */
  readonly exposed: boolean;
  readonly hasToken: (authorization: string | undefined) => boolean;
  /** Returns whether a Cookie field names a session. Default: never. */
  readonly hasSession?: (cookie: string | undefined) => boolean;
}

export interface AccessRequest {
  readonly method: string;
  readonly url: string;
  readonly hosts: number;
  readonly headers: PageFields & {
    readonly authorization?: string | undefined;
    readonly cookie?: string | undefined;
    readonly accept?: string | undefined;
  };
}

export type AccessDecision =
  | { readonly kind: 'admitted'; readonly match: MatchedRoute }
  /** `match`: undefined if no route matched. */
  | { readonly kind: 'refused'; readonly answer: AdminAnswer; readonly match: MatchedRoute | undefined };

export type MatchedRoute = Extract<AdminRouteMatch, { kind: 'found' }>;

/** The same for a missing and for a wrong token. */
const CHALLENGE = { 'www-authenticate': 'Bearer realm="sundial-admin"' };

export function decideAccess(
  rules: AccessRules,
  { method, url, hosts, headers }: AccessRequest,
): AccessDecision {
  // RFC 9112 section 3.2: another server may use the Host that is not checked here.
  if (hosts > 1) return refuse(errorAnswer(400, 'The request must have exactly one Host.'));
  if (!rules.anyHost && !isOwnHost(headers.host, rules.boundHost))
    return refuse(errorAnswer(421, 'The Host of the request is not the address of this listener.'));
  const match = matchRoute(rules.routes, method, url);
  switch (match.kind) {
    case 'unknown':
      return refuse(unknownPage(rules, headers.accept));
    case 'malformed':
      return refuse(errorAnswer(400, 'The request target is malformed.'));
    case 'method': {
      const message = `This path allows only ${match.allow}.`;
      return refuse({ ...errorAnswer(405, message), headers: { allow: match.allow } });
    }
    case 'found':
      return admit(rules, match, headers);
    default:
      return match satisfies never;
  }
}

function admit(rules: AccessRules, match: MatchedRoute, headers: AccessRequest['headers']): AccessDecision {
  const { route } = match;
  const writes = route.method !== 'GET';
  if (writes && !isFromOwnPage(headers))
    return refuse(errorAnswer(403, 'Pages of other origins cannot write here.'), match);
  if (isCrossSiteRead(headers))
    return refuse(errorAnswer(403, 'Pages of other origins cannot read here.'), match);
  const needsProof = route.open !== true && (writes || rules.exposed);
  if (needsProof && !isProven(rules, headers, writes)) {
    const message = 'This request needs the admin token: send "Authorization: Bearer <token>".';
    return refuse({ ...errorAnswer(401, message), headers: CHALLENGE }, match);
  }
  return { kind: 'admitted', match };
}

/** A browser adds its cookies to requests of any page, so a write by cookie must name its origin. */
function isProven(
  { hasToken, hasSession }: AccessRules,
  headers: AccessRequest['headers'],
  writes: boolean,
): boolean {
  if (hasToken(headers.authorization)) return true;
  return hasSession?.(headers.cookie) === true && (!writes || namesItsOrigin(headers));
}

function refuse(answer: AdminAnswer, match?: MatchedRoute): AccessDecision {
  return { kind: 'refused', answer, match };
}

function unknownPage({ routes, notFound }: AccessRules, accept: string | undefined): AdminAnswer {
  const wantsHtml = preferredType(accept, ['application/json', 'text/html']) === 'text/html';
  if (notFound !== undefined && wantsHtml) return notFound;
  const paths = new Set(routes.filter((route) => !isAlias(route)).map(({ path }) => path));
  return errorAnswer(404, `There is no such page. Known pages: ${[...paths].join(', ')}.`);
}

function isAlias(route: AdminRoute): boolean {
  return route.method === 'GET' && route.alias === true;
}

const NAME_AND_PORT = /^(\[[^\]]+\]|[^:[\]]+)(?::\d{1,5})?$/;

/** True for IP literals, loopback names and `boundHost`, which may be an IP literal. */
export function isOwnHost(host: string | undefined, boundHost: string | undefined): boolean {
  const name = NAME_AND_PORT.exec(host ?? '')?.[1]?.toLowerCase();
  if (name === undefined) return false;
  if (isIP(name.replace(/^\[|\]$/g, '')) !== 0) return true;
  return name === 'localhost' || name.endsWith('.localhost') || name === boundHost?.toLowerCase();
}

/** Fields by which a browser names the page that sends a request. Command-line clients send only Host. */
interface PageFields {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
  readonly 'sec-fetch-site'?: string | string[] | undefined;
  readonly 'sec-fetch-mode'?: string | string[] | undefined;
}

function namesItsOrigin({ origin, 'sec-fetch-site': site }: PageFields): boolean {
  return origin !== undefined || site === 'same-origin';
}

/** False if a page of another origin sends the request. The Host must have passed `isOwnHost`. */
export function isFromOwnPage({ host, origin, 'sec-fetch-site': site }: PageFields): boolean {
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  return origin === undefined || origin.toLowerCase() === `http://${host?.toLowerCase()}`;
}

/** Background requests of other origins leak timing and cost a read of the ledger. Links may be followed. */
function isCrossSiteRead({ 'sec-fetch-site': site, 'sec-fetch-mode': mode }: PageFields): boolean {
  return (site === 'cross-site' || site === 'same-site') && mode !== 'navigate';
}
