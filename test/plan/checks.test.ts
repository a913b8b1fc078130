// Everything `check` finds, each with what it points at («…»). One slip per row, in files that are otherwise in order.
import { describe, expect, it } from 'vitest';
import { GATEWAY, ORDERS, workspace } from './workspace.ts';

type Row = readonly [name: string, from: string | RegExp, to: string, expected: string];

const policyRows: readonly Row[] = [
  ['an unknown key', 'access:', 'acces:', '4 «acces» error: unknown key "acces" (did you mean "access"?)'],
  [
    'an unknown key of a version',
    'released: 2026-01-15',
    'relased: 2026-01-15',
    '10 «relased» error: unknown key "relased" (did you mean "released"?)',
  ],
  [
    'a key of the other file',
    'api: orders',
    'api: orders\nstore: x',
    '2 «store» error: the key "store" belongs in config/gateway.yaml',
  ],
  [
    'no access rule',
    /access:.*\n/,
    '',
    '1 «api: orders» error: no access rule: write "access: public", or name an identity and its scopes',
  ],
  [
    'a day no calendar has',
    '2024-06-01',
    '2026-02-30',
    '9 «2026-02-30» error: not a calendar date (YYYY-MM-DD) or an instant with its offset: "2026-02-30" (write 2026-02-28)',
  ],
  [
    'a number where text belongs',
    'api: orders',
    'api: 7',
    '1 «7» error: not a name: a lower-case letter, then letters, digits and hyphens: "7"',
  ],
  [
    'a bare number for a label',
    '  v2: { released',
    '  1.10: { released',
    '10 «1.10» error: not a version label: "1.10" (write v and the number, such as v1 or v1.2.0, or a date such as 2026-01-15)',
  ],
  [
    'an unknown word',
    'successor: v2',
    'successor: v2, after: gon',
    '9 «gon» error: expected "gone" or a map: "gon" (did you mean "gone"?)',
  ],
  [
    'an unknown identity',
    'identity: main',
    'identity: mian',
    '4 «mian» error: no identity is called "mian" (did you mean "main"?)',
  ],
  [
    'an unknown successor',
    'successor: v2',
    'successor: v22',
    '9 «v22» error: no version is called "v22" (did you mean "v2"?)',
  ],
  [
    'its own successor',
    'successor: v2',
    'successor: v1',
    '9 «v1» error: a version cannot be its own successor',
  ],
  [
    'an unknown default',
    'default: v2',
    'default: v3',
    '3 «v3» error: no version is called "v3" (there are v1, v2)',
  ],
  [
    'a name every object has',
    'successor: v2',
    'successor: constructor',
    '9 «constructor» error: no version is called "constructor" (there are v1, v2)',
  ],
  [
    'an upstream without version',
    '  v2: { targets',
    '  v3: { targets',
    '7 «v3» error: no version is called "v3" (there are v1, v2)',
  ],
  [
    'a version without upstream',
    /\n {2}v1: \{ targets.*/,
    '',
    '8 «v1» error: v1 has no upstream and its sunset has not passed (write upstreams: { v1: { targets: [ … ] } })',
  ],
  [
    'DEP-5: a sunset before its deprecation',
    'sunset: 2027-01-15',
    'sunset: 2025-01-15',
    '9 «2025-01-15» error: sunset (2025-01-15) is before deprecated (2026-01-15)',
  ],
  [
    'a deprecation before release',
    'released: 2024-06-01',
    'released: 2026-06-01',
    '9 «2026-01-15» error: deprecated (2026-01-15) is before released (2026-06-01)',
  ],
  [
    'DEP-4: a sunset nobody was told of',
    'deprecated: 2026-01-15, ',
    '',
    '9 «sunset» warning: a sunset without deprecated: callers are told nothing before the version is gone',
  ],
  [
    'an extension that shortens',
    'successor: v2',
    'extended: [{ to: 2027-01-01, announced: 2026-01-01 }]',
    '9 «2027-01-01» error: an extension to 2027-01-01 is not after the sunset it moves (2027-01-15) (to 2027-01-16 or later)',
  ],
  [
    'RET-4: a redirect in a circle',
    'successor: v2 }',
    'after: { redirect: v1 } }',
    '9 «v1» error: this redirect leads in a circle',
  ],
  [
    'RET-4: a redirect to what is gone',
    'released: 2026-01-15',
    'released: 2026-01-15, deprecated: 2026-01-15, sunset: 2026-02-01 }\n  v3: { released: 2026-01-15, deprecated: 2026-01-15, sunset: 2026-03-01, after: { redirect: v2 }',
    '11 «v2» error: v3 ends on 2026-03-01, and v2 has ended by then (sunset of v2 2027-03-01 or later)',
  ],
  [
    'RET-5: a redirect to a form that means the version itself',
    'successor: v2 }',
    'successor: v2 }\n  v1.1.0: { released: 2024-06-01, after: { redirect: v1 } }',
    '10 «v1» error: this redirect leads in a circle',
  ],
  [
    'a redirect before its target exists',
    'successor: v2 }\n  v2: { released: 2026-01-15',
    'after: { redirect: v2 } }\n  v2: { released: 2027-06-15',
    '9 «2027-01-15» error: v1 ends before v2, where it redirects to, is released (2027-06-15) (sunset 2027-06-15 or later)',
  ],
  [
    'LNK-3: a guide that is no URL',
    'guide: https://docs.example.com/v2',
    'guide: guides/v2.html',
    '9 «guides/v2.html» error: not an absolute https URL with everything else percent-encoded, nor the path of a Markdown file: "guides/v2.html" (write the guide beside this file and name it, such as ./guides/v1-to-v2.md, or the address of its page)',
  ],
  [
    'LNK-3: a guide with a bracket in it',
    'guide: https://docs.example.com/v2',
    'guide: "https://x.example/<a>"',
    '9 «"https://x.example/<a>"» error: not an absolute https URL with everything else percent-encoded, nor the path of a Markdown file: "https://x.example/<a>" (write https://x.example/%3Ca%3E)',
  ],
  [
    'a control character in a reason',
    'successor: v2',
    'reason: "a\\r\\nX: y"',
    '9 «"a\\r\\nX: y"» error: not one line of 1 to 300 characters without control characters: "a\\r\\nX: y"',
  ],
  [
    'a reason that reads otherwise than it is',
    'successor: v2',
    'reason: "a\\u202Eb"',
    '9 «"a\\u202Eb"» error: not one line of 1 to 300 characters without control characters: "a\u202Eb"',
  ],
  [
    'an upstream that is a listener',
    'http://127.0.0.1:4001',
    'http://localhost:8443',
    '6 «http://localhost:8443» error: this target is the https listener of this gateway',
  ],
  [
    'an upstream that is the admin listener',
    'http://127.0.0.1:4001',
    '"http://[::1]:9901"',
    '6 «"http://[::1]:9901"» error: this target is the admin listener of this gateway',
  ],
  [
    'an upstream that is the public face',
    'http://127.0.0.1:4001',
    'https://api.example.com',
    '6 «https://api.example.com» error: this target is the public address of this gateway',
  ],
  [
    'an upstream with a path',
    'http://127.0.0.1:4001',
    'http://127.0.0.1:4001/x',
    '6 «http://127.0.0.1:4001/x» error: not an origin: http or https, a host and perhaps a port, nothing else: "http://127.0.0.1:4001/x" (write http://127.0.0.1:4001, and path: /x beside targets)',
  ],
  [
    'a password in an upstream',
    'http://127.0.0.1:4001',
    'http://u:hunter2@h',
    '6 «http://u:hunter2@h» error: not an origin: http or https, a host and perhaps a port, nothing else: "http://*********@h" (write http://h)',
  ],
  [
    'a base with dot segments',
    'base: /api/orders',
    'base: /api/../orders',
    '2 «/api/../orders» error: not a plain path such as /orders: no trailing slash, query, escapes or dot segments: "/api/../orders"',
  ],
  [
    'a path without {version}',
    '/api/{version}/orders',
    '/api/v/orders',
    '3 «"/api/v/orders"» error: not a path with one whole segment {version}, such as /api/{version}/orders: "/api/v/orders"',
  ],
  [
    'a carrier that means something else',
    'API-Version',
    'Authorization',
    '3 «Authorization» error: not a field name that can carry a version, such as API-Version: "Authorization"',
  ],
  [
    'two headers',
    '{ header: API-Version }',
    '{ header: API-Version }, { header: X-V }',
    '3 «{ header: X-V }» error: a second header',
  ],
  [
    'no carrier',
    /resolve:.*\n/,
    '',
    '1 «api: orders» error: the key "resolve" is missing: say where clients write the version',
  ],
  [
    'a host with a port',
    'base:',
    'host: api.example.com:443\nbase:',
    '2 «api.example.com:443» error: not a host name in lower case, without a port: "api.example.com:443"',
  ],
  [
    'a share without a rate',
    'base:',
    'limits: { deprecated: 50% }\nbase:',
    '2 «limits» error: a limit needs a rate (write a rate beside it, such as rate: 600/1m)',
  ],
  [
    'RL-11: a lower limit that is higher',
    'base:',
    'limits: { rate: 600/1m, deprecated: 15/1s }\nbase:',
    '2 «15/1s» warning: this limit is higher than the rate that it should lower for v1',
  ],
  [
    'RL-11: a lower limit that is higher than the rate of one version',
    'successor: v2 }',
    'successor: v2, limits: { rate: 10/1m, deprecated: 60/1m } }',
    '9 «60/1m» warning: this limit is higher than the rate that it should lower for v1',
  ],
  [
    'a consumer nobody knows',
    /access:.*\n/,
    'access: public\nlimits: { rate: 1/1s, by: consumer }\n',
    '5 «consumer» error: a public API knows no consumer (write by: address)',
  ],
  [
    'a consumer nobody knows, among several',
    /access:.*\n/,
    'access: public\nlimits: [ { rate: 1/1s, by: address }, { name: mine, rate: 1/1m, by: consumer } ]\n',
    '5 «consumer» error: a public API knows no consumer (write by: address)',
  ],
  [
    'two limits of one name',
    'base:',
    'limits: [ { rate: 600/1m }, { name: default, rate: 9/1s } ]\nbase:',
    '2 «default» error: a second limit called default in one list (give each a name of its own)',
  ],
  [
    'a name that metrics and headers use for something else',
    'base:',
    'limits: [ { name: search-deprecated, rate: 9/1s } ]\nbase:',
    '2 «search-deprecated» error: not a name: a lower-case letter, then letters, digits and hyphens, and not guard or deprecated: "search-deprecated"',
  ],
  [
    'one of several limits without a rate',
    'base:',
    'limits: [ { rate: 600/1m }, { name: all, by: everyone } ]\nbase:',
    '2 «{ name: all, by: everyone }» error: a limit needs a rate (write a rate beside it, such as rate: 600/1m)',
  ],
  [
    'a version that adds a limit without a rate',
    'successor: v2 }',
    'successor: v2, limits: [ { name: extra, by: address } ] }',
    '9 «{ name: extra, by: address }» error: a limit needs a rate (write a rate beside it, such as rate: 600/1m)',
  ],
  [
    'a limit of everyone below that of one',
    'base:',
    'limits: [ { rate: 600/1m }, { name: all, rate: 500/1m, by: everyone } ]\nbase:',
    '2 «{ name: all, rate: 500/1m, by: everyone }» warning: everyone together gets less than one consumer does by default: that limit is never reached',
  ],
  [
    'a sliding log longer than memory is meant for',
    'base:',
    'limits: { rate: 20000/1h, algorithm: sliding-log }\nbase:',
    '2 «20000/1h» error: a sliding log keeps the instant of every request: at most 10000 in a window (write a shorter window, or algorithm: gcra)',
  ],
  [
    'a sliding log that takes over a rate that is too long for it',
    /base: (.*)\n([\s\S]*)successor: v2 }/,
    'base: $1\nlimits: { rate: 20000/1h }\n$2successor: v2, limits: { algorithm: sliding-log } }',
    '10 «sliding-log» error: a sliding log keeps the instant of every request: at most 10000 in a window (write a shorter window, or algorithm: gcra)',
  ],
  [
    'a rate that is too long for the sliding log that it takes over',
    /base: (.*)\n([\s\S]*)successor: v2 }/,
    'base: $1\nlimits: { rate: 20/1h, algorithm: sliding-log }\n$2successor: v2, operations: { GET /a: { limits: { rate: 20000/1h } } } }',
    '10 «20000/1h» error: a sliding log keeps the instant of every request: at most 10000 in a window (write a shorter window, or algorithm: gcra)',
  ],
  [
    'a sliding log that is lowered to a longer one',
    'successor: v2 }',
    'successor: v2, limits: { rate: 9000/1m, deprecated: 20000/1h, algorithm: sliding-log } }',
    '9 «20000/1h» error: a sliding log keeps the instant of every request: at most 10000 in a window (write a shorter window, or algorithm: gcra)',
  ],
  [
    'a burst of the sliding log that is taken over',
    /base: (.*)\n([\s\S]*)successor: v2 }/,
    'base: $1\nlimits: { rate: 20/1h, algorithm: sliding-log }\n$2successor: v2, limits: { burst: 5 } }',
    '10 «5» error: a sliding log has no burst: exactly its rate passes in any window',
  ],
  [
    'a sliding log with a burst',
    'base:',
    'limits: { rate: 20/1h, burst: 5, algorithm: sliding-log }\nbase:',
    '2 «5» error: a sliding log has no burst: exactly its rate passes in any window',
  ],
  [
    'a sliding log by leases',
    'base:',
    'limits: { rate: 20/1h, exact: false, algorithm: sliding-log }\nbase:',
    '2 «false» error: a sliding log is always exact: what it admits cannot be leased ahead',
  ],
  [
    'a cost that no bucket has room for',
    /base: (.*)\n([\s\S]*)successor: v2 }/,
    'base: $1\nlimits: { rate: 600/1m, burst: 20 }\n$2successor: v2, operations: { POST /bulk: { cost: 30 } } }',
    '10 «30» error: limit default has room for 20 at once: nothing of this cost ever passes (write a burst of at least 30 for it, or a cost of at most 20)',
  ],
  [
    'a cost that a lowered bucket has no room for',
    /base: (.*)\n([\s\S]*)successor: v2 }/,
    'base: $1\nlimits: { rate: 50/1m, deprecated: 50% }\n$2successor: v2, operations: { POST /bulk: { cost: 30 } } }',
    '10 «30» error: once deprecated, limit deprecated has room for 25 at once: nothing of this cost passes (lower it to no less than 30, or write a cost of at most 25)',
  ],
  [
    'a cost that a curve leaves no room for',
    /base: (.*)\n([\s\S]*)successor: v2 }/,
    'base: $1\nlimits: [ { rate: 50/1m, deprecated: { from: 80%, to: 10% } } ]\n$2successor: v2, operations: { POST /bulk: { cost: 30 } } }',
    '10 «30» error: by the sunset, limit deprecated has room for 5 at once: nothing of this cost passes (lower it to no less than 30, or write a cost of at most 5)',
  ],
  [
    'a cost that one of several limits has no room for, which the API writes and the version lowers',
    /base: (.*)\n([\s\S]*)successor: v2 }/,
    'base: $1\nlimits: [ { rate: 600/1m }, { name: all, rate: 90/1m, by: everyone } ]\n$2successor: v2, limits: [ { name: all, deprecated: 20/1m } ], operations: { POST /bulk: { cost: 30 } } }',
    '10 «30» error: once deprecated, limit all-deprecated has room for 20 at once: nothing of this cost passes (lower it to no less than 30, or write a cost of at most 20)',
  ],
  [
    'a cost that an operation deprecated before its version has no room for',
    'v2: { released: 2026-01-15 }',
    'v2: { released: 2026-01-15, limits: { rate: 50/1m, deprecated: 50% }, operations: { POST /bulk: { deprecated: 2026-06-01, sunset: 2027-06-15, guide: https://docs.example.com/bulk, cost: 30 } } }',
    '10 «30» error: once deprecated, limit deprecated has room for 25 at once: nothing of this cost passes (lower it to no less than 30, or write a cost of at most 25)',
  ],
  [
    'a cost above the units of a sliding log',
    'successor: v2 }',
    'successor: v2, operations: { POST /bulk: { cost: 30, limits: { rate: 20/1h, algorithm: sliding-log } } } }',
    '9 «30» error: limit default has room for 20 in any window: nothing of this cost ever passes (write a rate of at least 30 for it, or a cost of at most 20)',
  ],
  [
    'a cost of which a limit in shadow would say that it never passes',
    'successor: v2 }',
    'successor: v2, limits: { rate: 20/1m, shadow: true }, operations: { POST /bulk: { cost: 30 } } }',
    '9 «30» warning: limit default has room for 20 at once: nothing of this cost ever passes (write a burst of at least 30 for it, or a cost of at most 20)',
  ],
  [
    'a cost of nothing',
    'successor: v2 }',
    'successor: v2, operations: { POST /bulk: { cost: 30 } } }',
    '9 «cost» warning: a cost without a limit counts nothing',
  ],
  [
    'a base where the path names a version',
    'base: /api/orders',
    'base: /api/v1/orders',
    '2 «/api/v1/orders» error: this is where the path names v1: requests for it would name no version (write the base without the version)',
  ],
  [
    'a host that names a version',
    /base: (.*)\nresolve: \[/,
    'base: $1\nhost: [api.example.com, v2.example.com]\nresolve: [ { subdomain: "{version}.example.com" },',
    '3 «v2.example.com» error: the subdomain of this host names a version: requests for it would name none (leave it out of host: the subdomain is served as it is)',
  ],
  [
    'a media type twice',
    '{ header: API-Version }',
    '{ media_type: "application/json; v={n}" }, { media_type: "application/json;v={version}" }',
    '3 «{ media_type: "application/json;v={version}" }» error: this media type stands here twice',
  ],
  [
    'a default alone',
    /resolve:.*/,
    'resolve: [ { default: v2 } ]',
    '3 «resolve» warning: no request can name its version: every one gets the default (add a carrier, such as { header: API-Version })',
  ],
  [
    'a default that is planned',
    'v2: { released: 2026-01-15',
    'v2: { released: 2026-12-01',
    '3 «v2» warning: v2 is released on 2026-12-01: until then a request that names no version gets 400 (default: v1 until then)',
  ],
  [
    'a default that ends, where its successor does not',
    'default: v2',
    'default: v1',
    '3 «v1» warning: v1 ends on 2027-01-15: from then on a request that names no version gets 410 (default: v2 by that day)',
  ],
  [
    'extensions in another order',
    'successor: v2',
    'successor: v2, extended: [ { to: 2027-05-15, announced: 2026-08-02 }, { to: 2027-09-15, announced: 2026-08-01 } ]',
    '9 «2026-08-01» warning: announced (2026-08-01) before the extension above it (2026-08-02) (write extensions in the order in which they were announced)',
  ],
  [
    'an exception for a consumer with a blank',
    'successor: v2',
    'successor: v2, exceptions: [ { consumer: "acme ", until: 2027-01-10, from: [brownouts], why: x, by: y } ]',
    '9 «"acme "» error: a blank at the beginning or the end: no token names its consumer so (write it without)',
  ],
  [
    'a target at port 0',
    'http://127.0.0.1:4001',
    'http://127.0.0.1:0',
    '6 «http://127.0.0.1:0» error: nothing answers on port 0 (write the port of the service)',
  ],
  [
    'more time to connect than for all',
    '[http://127.0.0.1:4001]',
    '[http://127.0.0.1:4001], timeout: { connect: 9s, headers: 1s, total: 8s }',
    '6 «{ connect: 9s, headers: 1s, total: 8s }» error: the time to connect is longer than the total',
  ],
  [
    'less for all than for headers, of which nothing is said',
    '[http://127.0.0.1:4001]',
    '[http://127.0.0.1:4001], timeout: { total: 2s }',
    '6 «{ total: 2s }» error: the time for headers, 5s unless written, is longer than the total',
  ],
  [
    'a label without its last part',
    '  v2: { released',
    '  v1.10: { released',
    '10 «v1.10» error: not a version label: "v1.10" (write v and the number, such as v1 or v1.2.0, or a date such as 2026-01-15)',
  ],
];

const gatewayRows: readonly Row[] = [
  [
    'a page of the issuer',
    'https://auth.example.com',
    'https://auth.example.com/.well-known/jwks.json',
    '3 «https://auth.example.com/.well-known/jwks.json» warning: this is a page of the issuer: no token has it as iss (end it before "/.well-known/jwks.json"; where its keys are is written as jwks)',
  ],
  [
    'a claim that is nearly a registered one',
    'audience: api',
    'audience: api, consumer: [clientId, clientid]',
    '3 «clientid» warning: not a registered claim, but nearly one: a token that has none of this name does not say who calls (did you mean "client_id"?)',
  ],
  [
    'a claim about the token and not its holder',
    'audience: api',
    'audience: api, consumer: [jti]',
    '3 «jti» error: not the name of a claim about who calls, such as client_id: "jti"',
  ],
  [
    'proxies that are everybody',
    'policies:',
    'trusted_proxies: [10.0.0.0/8, "::/0"]\npolicies:',
    '4 «"::/0"» warning: every client is trusted to say what its address is, and what the host and the scheme were (write the addresses of the proxies, such as 10.0.0.0/8)',
  ],
  [
    'a key of the other file',
    'public:',
    'api: x\npublic:',
    '1 «api» error: the key "api" belongs in a policy file',
  ],
  [
    'a public URL with a path',
    'https://api.example.com',
    'https://api.example.com/x',
    '1 «https://api.example.com/x» error: not an origin: http or https, a host and perhaps a port, nothing else: "https://api.example.com/x" (write https://api.example.com)',
  ],
  [
    'an address without port',
    '"127.0.0.1:8443"',
    '"127.0.0.1"',
    '2 «"127.0.0.1"» error: not an address such as 127.0.0.1:8443 or :8443: "127.0.0.1"',
  ],
  [
    'two listeners at one address',
    '127.0.0.1:9901',
    ':8443',
    '2 «":8443"» error: the https listener has this address',
  ],
  [
    'an issuer in the clear',
    'https://auth.example.com',
    'http://auth.example.com',
    '3 «http://auth.example.com» error: not an https URL without query; http is for this machine only: "http://auth.example.com"',
  ],
  [
    'JWT-1: a shared-secret algorithm',
    'audience: api',
    'audience: api, algorithms: [HS256]',
    expect.stringMatching(
      /3 «HS256» error: expected "RS256" or .*\(published keys cannot verify a shared secret: .*\)/,
    ),
  ],
  [
    'JWT-1: such an algorithm alone',
    'audience: api',
    'audience: api, algorithms: HS256',
    expect.stringMatching(/3 «HS256» error: expected a list: .* they cannot verify a shared secret\)/),
  ],
  [
    'HSTS for less than it can say',
    '"127.0.0.1:8443"',
    '"127.0.0.1:8443", hsts: 500ms',
    '2 «500ms» error: not a duration of at least 1s, such as 365d, nor 0s: "500ms"',
  ],
  [
    'tokens that may not live',
    'audience: api',
    'audience: api, max_lifetime: 999ms',
    '3 «999ms» error: not a duration of at least 1s, such as 30s, 1h or 365d: "999ms"',
  ],
  [
    'a store of an unknown kind',
    'public:',
    'store: mysql://x\npublic:',
    '1 «mysql://x» error: not a store: embedded, embedded:<folder>, redis://host:port or rediss://host:port, perhaps with a database such as /1, redis+cluster://host:port,host:port or redis+sentinel://host:port,host:port/primary: "mysql://x"',
  ],
  [
    'a store in a database that Redis cannot have',
    'public:',
    'store: redis://cache:6379/orders\npublic:',
    '1 «redis://cache:6379/orders» error: not a store: embedded, embedded:<folder>, redis://host:port or rediss://host:port, perhaps with a database such as /1, redis+cluster://host:port,host:port or redis+sentinel://host:port,host:port/primary: "redis://cache:6379/orders"',
  ],
  [
    'a store in a database below zero',
    'public:',
    'store: redis://cache:6379/-1\npublic:',
    '1 «redis://cache:6379/-1» error: not a store: embedded, embedded:<folder>, redis://host:port or rediss://host:port, perhaps with a database such as /1, redis+cluster://host:port,host:port or redis+sentinel://host:port,host:port/primary: "redis://cache:6379/-1"',
  ],
  [
    'a store whose URL would set up the client',
    'public:',
    'store: redis://cache:6379/1?enableOfflineQueue=true\npublic:',
    '1 «redis://cache:6379/1?enableOfflineQueue=true» error: not a store: embedded, embedded:<folder>, redis://host:port or rediss://host:port, perhaps with a database such as /1, redis+cluster://host:port,host:port or redis+sentinel://host:port,host:port/primary: "redis://cache:6379/1?enableOfflineQueue=true"',
  ],
  [
    'such a store, without its password',
    'public:',
    'store: redis://:hunter2@cache:6379/orders\npublic:',
    '1 «redis://:hunter2@cache:6379/orders» error: not a store: embedded, embedded:<folder>, redis://host:port or rediss://host:port, perhaps with a database such as /1, redis+cluster://host:port,host:port or redis+sentinel://host:port,host:port/primary: "redis://********@cache:6379/orders"',
  ],
  [
    'plain HTTP served to all',
    'admin:',
    'http: { address: ":8080", mode: serve }, admin:',
    '2 «serve» error: plain HTTP is served on loopback or behind trusted_proxies only',
  ],
  [
    'an admin listener for others without a token of its own',
    '"127.0.0.1:9901"',
    '":9901"',
    `2 «":9901"» error: an admin listener that others reach needs a token of its own (add token: "\${file:/path}", or listen on 127.0.0.1)`,
  ],
  [
    'an admin token that is too short, without repeating it',
    '"127.0.0.1:9901"',
    '"127.0.0.1:9901", token: short-secret',
    '2 «short-secret» error: not a token of 32 to 512 letters, digits and . _ ~ + / -: [redacted] (make one: openssl rand -hex 32)',
  ],
  [
    'an admin token in the clear',
    '"127.0.0.1:9901"',
    '"127.0.0.1:9901", token: 0123456789abcdef0123456789abcdef',
    `2 «0123456789abcdef0123456789abcdef» warning: the token stands in this file for everyone who reads it (write \${file:/path} or \${env:NAME})`,
  ],
  [
    'an admin token that others send over the network',
    '"127.0.0.1:9901"',
    '":9901", token: 0123456789abcdef0123456789abcdef',
    '2 «":9901"» warning: whoever reaches this address reads the metrics, and the token crosses the network unencrypted (prefer loopback; probes and scrapers need listeners.metrics alone)',
  ],
  [
    'a range that is none',
    'public:',
    'trusted_proxies: [10.0.0.0/33]\npublic:',
    '1 «10.0.0.0/33» error: not an address or a range such as 10.0.0.0/8: "10.0.0.0/33"',
  ],
  [
    'certificates that are not there',
    '"127.0.0.1:8443"',
    '"127.0.0.1:8443", tls: { certificates: [{ names: [a.example], cert: a.crt, key: a.key }] }',
    '2 «a.crt» error: cannot read the certificate: no such file',
  ],
  [
    'a pattern nothing matches',
    '../policies/*.yaml',
    '../policy/*.yaml',
    '4 «../policy/*.yaml» error: no policy file matches',
  ],
];

describe('a policy file is refused for', () => {
  it.each(policyRows)('%s', async (_name, from, to, expected) => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS.replace(from, to) });
    expect(await files.problems()).toContainEqual(at('policies/orders.yaml', expected));
  });
});

describe('the gateway file is refused for', () => {
  it.each(gatewayRows)('%s', async (_name, from, to, expected) => {
    await using files = await workspace({
      'config/gateway.yaml': GATEWAY.replace(from, to),
      'policies/orders.yaml': ORDERS,
    });
    expect(await files.problems()).toContainEqual(at('config/gateway.yaml', expected));
  });
});

describe('checks as a whole', () => {
  it('files in order have no problem, a plan and settings', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    const loaded = await files.load();
    expect(loaded.problems).toEqual([]);
    expect(loaded.plan?.apis[0]?.versions.size).toBe(2);
    expect(loaded.settings?.public).toBe('https://api.example.com');
  });

  it('shape and cross-reference problems of all files come in one go', async () => {
    await using files = await workspace({
      'config/gateway.yaml': GATEWAY.replace('audience: api', 'audiense: api'),
      'policies/a.yaml': ORDERS.replace('sunset: 2027-01-15', 'sunset: 2027-02-30').replace(
        'default: v2',
        'default: v9',
      ),
      'policies/b.yaml': ORDERS.replace('identity: main', 'identity: other').replace(
        'api: orders',
        'api: more',
      ),
    });
    expect(await files.problems()).toEqual([
      expect.stringMatching(/^config.*error: the key "audience" is missing/),
      expect.stringMatching(/^config.*error: unknown key "audiense"/),
      expect.stringMatching(/^policies\/a.*error: no version is called "v9"/),
      expect.stringMatching(/^policies\/a.*error: not a calendar date/),
      expect.stringMatching(
        /^policies\/b.yaml:2.*error: this host and path belong to the API in policies\/a.yaml/,
      ),
      expect.stringMatching(
        /^policies\/b.yaml:3.*error: this host and path belong to the API in policies\/a.yaml/,
      ),
      expect.stringMatching(/^policies\/b.*error: no identity is called "other"/),
    ]);
  });

  it('two files that describe one API name each other', async () => {
    await using files = await workspace({ 'policies/a.yaml': ORDERS, 'policies/b.yaml': ORDERS });
    expect(await files.problems()).toContain(
      'policies/b.yaml:1 «orders» error: the API "orders" is already described in policies/a.yaml',
    );
  });

  it('a base that is a version of another API takes over its requests', async () => {
    const hooks = (base: string) =>
      `api: hooks\nbase: ${base}\naccess: public\nupstreams: { any: { targets: [http://127.0.0.1:4001] } }\nversions: none\n`;
    await using files = await workspace({
      'policies/a.yaml': hooks('/api/v2/orders'),
      'policies/orders.yaml': ORDERS,
    });
    expect(await files.problems()).toEqual([
      'policies/a.yaml:2 «/api/v2/orders» warning: requests for v2 of the API in policies/orders.yaml come here instead (choose a path without a segment that is one of its versions)',
    ]);
    for (const base of ['/api/v9/orders', '/api/v2/orders/archive', '/v2/orders']) {
      await files.write('policies/a.yaml', hooks(base));
      expect(await files.problems()).toEqual([]);
    }
  });

  it('names of this machine are one host', async () => {
    await using files = await workspace({
      'policies/a.yaml': `host: localhost\n${ORDERS}`,
      'policies/b.yaml': `host: 127.0.0.1\n${ORDERS.replace('api: orders', 'api: more')}`,
    });
    expect((await files.problems()).join('\n')).toContain(
      'this host and path belong to the API in policies/a.yaml',
    );
  });

  it('RET-11: a version past its sunset needs no upstream', async () => {
    const retired = ORDERS.replace(/\n {2}v1: \{ targets.*/, '')
      .replace('deprecated: 2026-01-15, sunset: 2027-01-15', 'deprecated: 2025-01-15, sunset: 2026-06-01')
      .replace('released: 2026-01-15', 'released: 2025-01-15');
    await using files = await workspace({ 'policies/orders.yaml': retired });
    expect(await files.problems()).toEqual([]);
    expect((await files.load()).plan?.apis[0]?.versions.get('v1')?.upstream).toBeUndefined();
  });

  it('RET-4: a redirect whose target ends later is no error on any day, so that the same file can be started with again', async () => {
    const ended = ORDERS.replace(
      'deprecated: 2026-01-15, sunset: 2027-01-15,',
      'deprecated: 2024-06-01, sunset: 2025-06-01, after: { redirect: v2 },',
    ).replace(
      'v2: { released: 2026-01-15',
      'v2: { released: 2024-06-01, deprecated: 2024-09-01, sunset: 2026-02-01, guide: https://docs.example.com/v3',
    );
    await using files = await workspace({
      'policies/orders.yaml': `${ended}rules: { parallel-versions: off }\n`,
    });
    expect(await files.problems()).toEqual([
      'policies/orders.yaml:9 «v2» warning: v1 ends on 2025-06-01, and the redirect leads nowhere from 2026-02-01 on, when v2 ends (sunset of v2 2026-06-01 or later)',
    ]);
    expect((await files.load()).plan).toBeDefined();
  });

  it('RET-5: that a redirect without a path for the version does nothing is said', async () => {
    const text = ORDERS.replace('{ path: "/api/{version}/orders" }, ', '').replace(
      'successor: v2',
      'after: { redirect: v2 }',
    );
    await using files = await workspace({ 'policies/orders.yaml': text });
    expect(await files.problems()).toEqual([
      'policies/orders.yaml:3 «resolve» warning: without a path or subdomain for the version a redirect would lead back to the same URL: those requests get 410',
    ]);
  });

  it('no key is accepted that would do nothing in an API without versions', async () => {
    await using files = await workspace({
      'policies/open.yaml': `api: open
base: /open
access: public
warning: false
deprecation_header: "true"
limits: { rate: 1/1s, deprecated: 50% }
resolve: [{ default: v1 }]
upstreams: { open: { targets: [http://127.0.0.1:4001], version_as: none } }
rewrite_content_type: true
unknown_version_status: 404
upstream_wins: true
versions: none
`,
    });
    const nothing = (line: number, key: string, and = '') =>
      `policies/open.yaml:${line} «${key}» error: ${key} does nothing in an API with "versions: none"${and}`;
    const undated = ' and no deprecated of its own';
    expect(await files.problems()).toEqual([
      nothing(4, 'warning', undated),
      nothing(5, 'deprecation_header', undated),
      nothing(6, 'deprecated', undated),
      nothing(7, 'resolve'),
      nothing(8, 'version_as'),
      nothing(9, 'rewrite_content_type'),
      nothing(10, 'unknown_version_status'),
      nothing(11, 'upstream_wins', undated),
    ]);
  });

  it.each([
    ['deprecated: 2026-01-15', 'deprected: 2026-01-15', 'deprected', 'deprecated'],
    ['sunset: 2027-01-15', 'retired: 2028-01-15, sunnset: 2027-01-15', 'sunnset', 'sunset'],
  ])('a key that is only misspelt is not missed as well: %s', async (from, to, wrong, right) => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS.replace(from, to) });
    expect(await files.problems()).toEqual([
      `policies/orders.yaml:9 «${wrong}» error: unknown key "${wrong}" (did you mean "${right}"?)`,
    ]);
  });

  it('a limit of everyone in shadow keeps no other from being reached', async () => {
    const limits = '[ { rate: 60/1m }, { name: all, rate: 50/1m, by: everyone, shadow: true } ]';
    const text = ORDERS.replace('base:', `limits: ${limits}\nbase:`);
    await using files = await workspace({ 'policies/orders.yaml': text });
    expect(await files.problems()).toEqual([]);
  });

  it('a lower limit as high as the rate, or of a version that is not deprecated, is no finding', async () => {
    const text = ORDERS.replace('base:', 'limits: { rate: 60/1m, deprecated: 1/1s }\nbase:').replace(
      'released: 2026-01-15',
      'released: 2026-01-15, limits: { rate: 10/1m }',
    );
    await using files = await workspace({ 'policies/orders.yaml': text });
    expect(await files.problems()).toEqual([]);
  });

  it('a bad value from outside is known by the variable it came from', async () => {
    const gateway = GATEWAY.replace('127.0.0.1:9901', `127.0.0.1:\${env:ADMIN}`);
    await using files = await workspace({ 'config/gateway.yaml': gateway, 'policies/orders.yaml': ORDERS });
    expect(await files.problems({ ADMIN: 'hunter2' })).toEqual([
      `config/gateway.yaml:2 «"127.0.0.1:\${env:ADMIN}"» error: not an address such as 127.0.0.1:8443 or :8443: [redacted] (from ADMIN)`,
    ]);
  });

  it('an unquoted number is taken as written, with a warning', async () => {
    const text = ORDERS.replace('released: 2024-06-01,', 'released: 2024-06-01, reason: 1.10,');
    await using files = await workspace({ 'policies/orders.yaml': text });
    expect(await files.problems()).toEqual([
      'policies/orders.yaml:9 «1.10» warning: 1.10 is read as a number: write it in quotes',
    ]);
    expect((await files.load()).plan?.apis[0]?.versions.get('v1')?.schedule.reason).toBe('1.10');
  });

  it('no value that came in by interpolation is in any message', async () => {
    const text = ORDERS.replace(
      'v1: { targets: [http://127.0.0.1:4001]',
      `v1: { targets: ["\${env:S}"], path: "\${env:S}"`,
    )
      .replace('identity: main', `identity: "\${env:S}"`)
      .replace(
        'successor: v2',
        `successor: "\${env:S}", status: "\${env:S}", after: { redirect: "\${env:S}" }`,
      )
      .replace('api: orders', `api: "\${env:S}"`);
    await using files = await workspace({ 'policies/orders.yaml': text });
    const { problems } = await files.load({ S: 'hunter2 x' });
    expect(problems.length).toBeGreaterThanOrEqual(7);
    expect(JSON.stringify(problems)).not.toContain('hunter2');
    expect(JSON.stringify(problems)).toContain('[redacted]');
  });
});

function at(file: string, expected: unknown): unknown {
  return typeof expected === 'string' ? `${file}:${expected}` : expected;
}
