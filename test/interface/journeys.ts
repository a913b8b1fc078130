// The tests that prove interface rules, under short names. Titles must equal those in the test files.
import { testsOf } from './rule.ts';

export const SERVICE = testsOf('interface/what-the-service-does.ts', {
  tls: 'TLS-1: TLS 1.2 is accepted, and older versions are refused',
  stateless: 'requests on separate connections without cookies get the same response',
  cacheable: 'a cacheable response has Cache-Control, ETag and Last-Modified',
  safe: 'GET, HEAD and OPTIONS change nothing',
  put: 'PUT may be repeated, with or without an idempotency key',
  plural: 'collections are plural nouns; the singular gets 404',
  noToken: 'a token in a URL gets 400, and is not in the response',
});

export const RECORDS = testsOf('interface/resources.ts', {
  subscription: 'a webhook subscription has url and events, and its secret only in the response to POST',
  badSubscription: 'WH-8: a webhook subscription with %s gets 400 and the reason',
  offsetPage: 'PAG-1: an offset page has data, pagination and links, and nothing else',
  cursorPage: 'PAG-2: a cursor page has has_more and no page numbers',
  error: 'ERR-1: every error body has the reason phrase and a sentence',
  notice: 'the notice in a body has all five members',
  described: 'OAS-2: responses have the dates of x-lifecycle in the description',
  operation: 'OAS-2: a deprecated operation of an active version has its own dates and replacement',
  links: 'links in a representation are objects with href, and work',
});

export const STATES = testsOf('interface/states.ts', {
  stages: 'a version is %s at %s',
  counted: 'calls to a deprecated version are counted',
  extension: 'an extension of 3 to 6 months, announced 3 months before, is accepted; others are not',
});

export const ENDPOINTS = testsOf('interface/endpoints.ts', {
  paged: 'a list is requested by page and limit, also without a version in the path',
  filtered: 'a list is filtered and sorted, and has only the requested fields',
});

export const TOKENS = testsOf('interface/authentication.ts', {
  lifetime: 'OAU-6, OAU-10: an access token is a signed JWT that is valid for one hour at most',
  each: 'AUTH-2: each request needs its own token: %s %s',
  refusedFlows: 'OAU-1, OAU-3: %s is refused',
});

export const EVENTS = testsOf('interface/events.ts', {
  delivered: 'WH-1, WH-6: an event is POSTed with an HMAC and a time, and retried until it gets 200',
  received: 'WH-4, WH-5: the receiver accepts an event once, and answers 401 to a bad signature',
});

export const ERRORS = testsOf('interface/errors.ts', {
  early: 'ERR-1: %i %s has the error body',
  internal: 'ERR-7: 500 has a request id and nothing about the cause',
  badGateway: 'FWD-18: 502 names the service that failed',
  maintenance: 'ERR-5: 503 in maintenance has the remaining time, in seconds and as an instant',
  timeout: 'FWD-17: 504 has the timeout with its unit',
  nothingInside: '%s gets an error status and no internal details in the body',
});

export const LIMITS = testsOf('interface/limits.ts', {
  quota: 'each response has the remaining quota as a whole number',
  pageSize: 'PAG-1: limit=%s gets %i',
});

export const VERSIONS = testsOf('interface/versioning.ts', {
  carriers: 'is selected by %s',
  signals: 'DEP-1, WARN-1, XDI-1: a deprecated version sends all five headers',
  sunsetAlone: 'SUN-3: an operation that is not deprecated may send Sunset',
  semantic: 'each description has a semantic version whose major is the version of its API',
  notice: '12 months of notice for public APIs, 6 for internal ones, and a guide are required',
});

export const RESOURCES = testsOf('resources.test.ts', {
  post: 'POST creates: 201 with the representation and Location',
  get: 'GET reads: 200, or 304 for a matching ETag; HEAD has the same headers',
  change: 'PATCH changes a part and PUT replaces: 200, or 412 after another change',
  action: 'an action is POST on a sub-path: 200, then 409',
  remove: 'DELETE removes: 204 without a body, then 404',
  wrongKind: '%s with %j gets %i',
  postAgain: 'POST with an idempotency key is executed once and gets the same response',
  pages: 'PAG-1, PAG-3: links lead through numbered pages under the path of the gateway',
  cursor: 'PAG-2: cursor pages have has_more, and a Link beside those of the gateway',
  parallel: 'Versioning 3: both versions show the same orders while they run side by side',
});

export const SAMPLES = testsOf('sample-policies.test.ts', {
  active: 'GET /api/v2/orders with a token: 200 from the second service, without lifecycle headers',
  deprecated: 'GET /api/v1/orders with a token: 200 with all lifecycle signals and the lower limit',
  notModified: 'HEAD-1, C304-2: the same headers on HEAD and on 304, without a body',
  moved: '/api/v0/orders?x=1&x=2: 301 for GET and 308 for POST, to the v2 URL with its query',
  gone: 'GET /api/v1/catalog: 410 with successor and guide in the body',
  guide: 'Versioning 6: Link leads to the guide on the lifecycle page, which has no scripts',
  noToken: 'GET /api/v2/orders without a token: 401 with a challenge',
  pinned: 'GET /api/payments of %s: version %s, to which its account is pinned',
  oneRequest: 'GET /api/payments with API-Version: that version, for one request',
  plain: 'plain HTTP answers 400 with the error body',
  limited: 'too many GET /api/v1/orders: 429 with Retry-After, while v2 is served',
  stopped: 'with the upstream stopped: 502 with service, over %s',
});

export const OAUTH = testsOf('authorization.test.ts', {
  code: 'follows the specification: five parameters, code and state, a token, an API call',
  refresh: 'works with PKCE and refresh; a refresh token that is used twice revokes all tokens',
  redirects: 'answers 400 without Location to an unregistered redirect_uri',
  client: 'starts a sign-in with a fresh state and a PKCE challenge, and gets a token',
  state: 'rejects a callback with %s, and says why',
  tokenLimit: 'OAU-9: answers 429 with Retry-After over the limit of an address',
});

export const OTHERS = {
  ...testsOf('plain-redirect.test.ts', { redirected: '%s is redirected with %i' }),
  ...testsOf('client-sees.test.ts', {
    hsts: 'CACHE-2, TLS-6: one Vary, and one Strict-Transport-Security, not that of the upstream',
  }),
  ...testsOf('published.test.ts', {
    catalog: 'CAT-3: lists active and deprecated versions, without retired and planned ones',
  }),
  ...testsOf('published-lifecycle.test.ts', {
    descriptions: 'OAS-2: has the lifecycle of the descriptions, on the page as escaped text',
    changelog: 'has a changelog of announcements: as data, on the page and as an Atom feed',
    status: 'XDI-1: is the status page of deprecated versions that name no other',
  }),
  ...testsOf('whole-api.test.ts', {
    alternate: 'WARN-1, LNK-1: is named as an API, with its guide, its page and its alternate',
  }),
  ...testsOf('described.test.ts', {
    operation: 'has the signals from that instant on, with sunset, guide and replacement',
  }),
  ...testsOf('../browser/dashboard.ts', {
    warnings: 'Dashboard: one time axis with every version and today, warnings above, no external content',
  }),
  ...testsOf('notices.test.ts', {
    mailed: 'callers get one mail per notice, whatever restarts and however many gateways run',
  }),
  ...testsOf('webhooks.test.ts', {
    subscribed: 'a subscriber registers a url, gets 201 with a secret, and receives signed events',
  }),
  ...testsOf('freeze.test.ts', { held: 'RET-11: takes effect when the hold ends, and not before' }),
  ...testsOf('usage.test.ts', {
    usage: 'shows what is safe to retire, who still calls the rest, and all exceptions',
  }),
  ...testsOf('callers.test.ts', {
    keys: 'takes the first credential in the order of the API',
    leastPrivilege: 'least privilege: an operation without a rule gets 403, one with `any` needs no scope',
  }),
} as const;
