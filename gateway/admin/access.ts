// Who may ask the admin listener for what, judged before any body is read, so that a refusal costs nothing.
import { isIP } from 'node:net';
import { preferredType } from '../policy/versioning/accept.ts';
import { type AdminAnswer, errorAnswer } from './answers.ts';
import { type AdminRoute, type AdminRouteMatch, matchRoute } from './route.ts';

export interface AccessRules {
  readonly routes: readonly AdminRoute[];
  /** The answer to a browser at an unknown path. */
  readonly notFound?: AdminAnswer | undefined;
  /** As configured; undefined: every interface. */
  readonly boundHost: string | undefined;
  /** Whatever the Host says: for machines that know this one by names of their own, where every page is open. */
  readonly anyHost: boolean;
  /** Others than this machine reach the listener: everything but health and metrics needs the token. */
  readonly exposed: boolean;
  readonly hasToken: (authorization: string | undefined) => boolean;
  /** Whether a Cookie field names a session; default: never. */
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
  /** `match` where it is known what was asked for. */
  | { readonly kind: 'refused'; readonly answer: AdminAnswer; readonly match: MatchedRoute | undefined };

export type MatchedRoute = Extract<AdminRouteMatch, { kind: 'found' }>;

/** The same whether a token is missing or wrong. */
const CHALLENGE = { 'www-authenticate': 'Bearer realm="sundial-admin"' };

export function decideAccess(
  rules: AccessRules,
  { method, url, hosts, headers }: AccessRequest,
): AccessDecision {
  // Of two, others may go by the one that is not looked at here (RFC 9112 section 3.2).
  if (hosts > 1) return refuse(errorAnswer(400, 'A request has one Host.'));
  if (!rules.anyHost && !isOwnHost(headers.host, rules.boundHost))
    return refuse(errorAnswer(421, 'This listener answers only under its own address.'));
  const match = matchRoute(rules.routes, method, url);
  switch (match.kind) {
    case 'unknown':
      return refuse(unknownPage(rules, headers.accept));
    case 'malformed':
      return refuse(errorAnswer(400, 'The request target cannot be read.'));
    case 'method': {
      const message = `This path answers to ${match.allow}.`;
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
    const message = 'This needs the admin token, as "Authorization: Bearer <token>".';
    return refuse({ ...errorAnswer(401, message), headers: CHALLENGE }, match);
  }
  return { kind: 'admitted', match };
}

/** A browser sends its cookies with whatever a page makes it send: a write by cookie has to say that the page is ours. */
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
  return errorAnswer(404, `There is no such page. There are ${[...paths].join(', ')}.`);
}

function isAlias(route: AdminRoute): boolean {
  return route.method === 'GET' && route.alias === true;
}

const NAME_AND_PORT = /^(\[[^\]]+\]|[^:[\]]+)(?::\d{1,5})?$/;

/** True for IP literals, loopback names and the name this listener was bound by. `boundHost` may be an IP literal. */
export function isOwnHost(host: string | undefined, boundHost: string | undefined): boolean {
  const name = NAME_AND_PORT.exec(host ?? '')?.[1]?.toLowerCase();
  if (name === undefined) return false;
  if (isIP(name.replace(/^\[|\]$/g, '')) !== 0) return true;
  return name === 'localhost' || name.endsWith('.localhost') || name === boundHost?.toLowerCase();
}

/** What a browser says of the page behind a request; nothing of it comes from a command line. */
interface PageFields {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
  readonly 'sec-fetch-site'?: string | string[] | undefined;
  readonly 'sec-fetch-mode'?: string | string[] | undefined;
}

function namesItsOrigin({ origin, 'sec-fetch-site': site }: PageFields): boolean {
  return origin !== undefined || site === 'same-origin';
}

/** False for a request that a page of another origin makes. The Host has passed `isOwnHost`. */
export function isFromOwnPage({ host, origin, 'sec-fetch-site': site }: PageFields): boolean {
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  return origin === undefined || origin.toLowerCase() === `http://${host?.toLowerCase()}`;
}

/**
 * Whether a page of another origin sends this request in the background. It cannot read the answer, but its timing leaks, and
 * each request costs a read of the ledger. A followed link is allowed.
 */
function isCrossSiteRead({ 'sec-fetch-site': site, 'sec-fetch-mode': mode }: PageFields): boolean {
  return (site === 'cross-site' || site === 'same-site') && mode !== 'navigate';
}
