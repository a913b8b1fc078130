// The tests that prove interface rules, under short names. Titles must equal those in the test files.
import { testsOf } from './rule.ts';

export const SERVICE = testsOf('interface/what-the-service-does.ts', {
  tls: 'TLS-1: nothing older than TLS 1.2 is spoken, and 1.2 is',
  stateless:
    'a request stands alone: on a connection of its own, without a cookie, it gets what any other gets',
  cacheable: 'what is cacheable says for how long, and by what a copy is compared',
  safe: 'GET, HEAD and OPTIONS change nothing',
  put: 'PUT is safe to repeat, by itself and by an idempotency key',
  plural: 'collections are plural nouns; by the singular there is nothing',
  noToken: 'a token in a URL is 400, is not passed on and comes back nowhere',
});

export const RECORDS = testsOf('interface/resources.ts', {
  subscription: 'a webhook subscription has url and events, and its secret in the answer that makes it alone',
  badSubscription: 'WH-8: a webhook subscription with %s is 400, and told what it needs',
  offsetPage: 'PAG-1: an offset page is data, pagination and links, and nothing else',
  cursorPage: 'PAG-2: a cursor page says whether there is more, and knows no page numbers',
  error: 'ERR-1: an error body is the reason phrase and a sentence, whoever answers',
  notice: 'the notice in a body has all five members',
  described: 'OAS-2: x-lifecycle of a description is what callers are told',
  operation: 'OAS-2: a deprecated operation of a version that is not has dates and a replacement of its own',
  links: 'links in a representation are objects with href, and lead there',
});

export const STATES = testsOf('interface/states.ts', {
  stages: 'a version is %s at %s',
  counted: 'what is called of a deprecated version is counted',
  extension: 'an extension of 3 to 6 months, announced 3 months before, moves the end; any other leaves it',
});

export const ENDPOINTS = testsOf('interface/endpoints.ts', {
  paged: 'a list is asked for by page and limit, also without a version in the path',
  filtered: 'a list is filtered, sorted, and shown in part',
});

export const TOKENS = testsOf('interface/authentication.ts', {
  lifetime: 'OAU-6, OAU-10: an access token is a signed JWT that lives one hour at most',
  each: 'AUTH-2: each request is asked for its own token: %s %s',
  refusedFlows: 'OAU-1, OAU-3: %s is refused',
});

export const EVENTS = testsOf('interface/events.ts', {
  delivered:
    'WH-1, WH-6: an event is POSTed as its record, under an HMAC of the whole body and a time; what failed comes again, later and later, until 200',
  received:
    'WH-4, WH-5: the receiver believes what is signed, takes it once however often it comes, and answers 401 to what is not, or an hour old',
});

export const ERRORS = testsOf('interface/errors.ts', {
  early: 'ERR-1: %i %s is the error body',
  internal: 'ERR-7: 500 has a request id and nothing of the cause',
  badGateway: 'FWD-18: 502 names the service whose answer was none',
  maintenance: 'ERR-5: 503 in maintenance says for how long, in seconds and as an instant',
  timeout: 'FWD-17: 504 says how long it was waited, with its unit',
  nothingInside: '%s is an error by its status, with nothing of the inside',
});

export const LIMITS = testsOf('interface/limits.ts', {
  quota: 'what is left of the quota stands in each answer, as whole numbers',
  pageSize: 'PAG-1: limit=%s is %i',
});

export const VERSIONS = testsOf('interface/versioning.ts', {
  carriers: 'is had by %s',
  signals: 'DEP-1, WARN-1, XDI-1: a deprecated version says so in all five headers',
  sunsetAlone: 'SUN-3: an operation that is not deprecated may have a Sunset all the same',
  semantic: 'each description has a version of three numbers, the first of which is that of its API',
  notice:
    '12 months of notice for the public and 6 inside, and a guide: less is not taken, and the old dates go on',
});

export const RESOURCES = testsOf('resources.test.ts', {
  post: 'POST creates: 201, the representation, and where it is',
  get: 'GET reads: 200, and 304 without a body for who has it; HEAD says the same',
  change: 'PATCH changes a part, PUT replaces: 200; neither over what another has changed',
  action: 'an action is POST on a sub-path: 200, and 409 for the second time',
  remove: 'DELETE removes: 204 without a body, then 404',
  wrongKind: '%s of the wrong kind: %j is %i',
  postAgain: 'POST with an idempotency key is safe to repeat: the same answer, nothing made twice',
  pages: 'PAG-1, PAG-3: numbered pages lead from one to the next under the path of the gateway',
  cursor:
    'PAG-2: cursor pages lead on by has_more and starting_after, and by a Link beside those of the gateway',
  parallel: 'Versioning 3: both versions show the same orders while they run side by side',
});

export const SAMPLES = testsOf('sample-policies.test.ts', {
  active: 'GET /api/v2/orders with a token: 200 from the second service, without lifecycle headers',
  deprecated:
    'GET /api/v1/orders with a token: 200 from the first service, with every lifecycle signal and the lower limit',
  notModified: 'HEAD-1, C304-2: the same headers on HEAD and on 304, without a body',
  moved: '/api/v0/orders?x=1&x=2: 301 for GET and 308 for POST, to the v2 URL with its query',
  gone: 'GET /api/v1/catalog: 410 with successor and guide in the body',
  guide: 'Versioning 6: the guide that Link leads to stands on the lifecycle page, which runs nothing',
  noToken: 'GET /api/v2/orders without a token: 401 with a challenge',
  pinned: 'GET /api/payments of %s: the edition of %s, which its account is on',
  oneRequest: 'GET /api/payments with API-Version: that edition, for one request',
  plain: 'plain HTTP answers 400 with the error body',
  limited: 'too many GET /api/v1/orders: 429 with Retry-After, while v2 goes on',
  stopped: 'with the upstream stopped: 502 with service, over %s',
});

export const OAUTH = testsOf('authorization.test.ts', {
  code: "as the specification has it: five parameters there, code and state back, secret and address for a token, the API's answer",
  refresh: 'with PKCE, and refreshed; a refresh token that is used twice ends them all',
  redirects: 'sends nobody to an address that is not registered: 400, and no Location',
  client: 'sends a person away with fresh state and a challenge, and has a token when they are back',
  state: 'takes no answer with %s, and says so',
  tokenLimit: 'OAU-9: is limited by address at the gateway: 429 with Retry-After',
});

export const OTHERS = {
  ...testsOf('plain-redirect.test.ts', { redirected: '%s is sent on with %i' }),
  ...testsOf('client-sees.test.ts', {
    hsts: 'CACHE-2, TLS-6: Vary and Strict-Transport-Security once, the upstream HSTS never',
  }),
  ...testsOf('published.test.ts', {
    catalog: 'CAT-3: lists what is served: retired versions leave, planned ones have not come',
  }),
  ...testsOf('published-lifecycle.test.ts', {
    descriptions: 'OAS-2: has what the description of a version tells its callers, on the page as text',
    changelog: 'has a changelog of what was made known, as data, on the page and as an Atom feed',
    status: 'XDI-1: is where deprecated versions point that name no status page',
  }),
  ...testsOf('whole-api.test.ts', {
    alternate: 'WARN-1, LNK-1: is spoken of as an API, with its guide, its page and its substitute',
  }),
  ...testsOf('described.test.ts', {
    operation: 'is signalled from that instant on, with its sunset, guide and replacement',
  }),
  ...testsOf('../browser/dashboard.ts', {
    warnings: 'Dashboard: one time axis with every version and today, warnings above, no external content',
  }),
  ...testsOf('notices.test.ts', {
    mailed: 'tells those who call, once, whatever restarts and however many gateways there are',
  }),
  ...testsOf('webhooks.test.ts', {
    subscribed:
      'a subscriber registers a url and events with 201 and a secret, and receives what happens, signed',
  }),
  ...testsOf('freeze.test.ts', { held: 'RET-11: comes when the hold has run out, and not before' }),
  ...testsOf('usage.test.ts', {
    usage: 'shows what is safe to retire, who still calls the rest, and who has leave',
  }),
  ...testsOf('callers.test.ts', {
    keys: 'the first credential by the order of the API says who calls',
    leastPrivilege: 'least privilege: what no rule speaks of is refused to everybody, and any is said',
  }),
} as const;
