// Rows for single-mistakes.test.ts: mistakes in the gateway file.
import { expect } from 'vitest';
import type { Mistake } from './mistake.ts';

export const GATEWAY_FILE: readonly Mistake[] = [
  [
    'a collector of traces with a password',
    'policies:',
    'tracing: { otlp: "http://user:word@127.0.0.1:4318" }\npolicies:',
    expect.stringMatching(
      /^config\/gateway.yaml:4 «.*» error: not an http or https URL \(no user, password, query or fragment\), such as http:\/\/127.0.0.1:4318/,
    ),
  ],
  [
    'a collector of traces by another protocol',
    'policies:',
    'tracing: { otlp: "grpc://127.0.0.1:4317" }\npolicies:',
    expect.stringMatching(/^config\/gateway.yaml:4 «.*» error: not an http or https URL/),
  ],
  [
    'an unknown log level',
    'policies:',
    'log_level: debug\npolicies:',
    '4 «debug» error: expected "info", "warn" or "error": "debug"',
  ],
  [
    'a misspelt field of the access log',
    'policies:',
    'access_log: { fields: [status, user_agnet] }\npolicies:',
    expect.stringMatching(/^config\/gateway.yaml:4 «user_agnet» error: .*did you mean "user_agent"\?/),
  ],
  [
    'an access log without a field',
    'policies:',
    'access_log: { fields: [] }\npolicies:',
    '4 «[]» error: the list is empty (add an entry, or leave the key out)',
  ],
  [
    'a share of access lines without a percent sign',
    'policies:',
    'access_log: { sample: 10 }\npolicies:',
    '4 «10» error: not a share such as 10%: 10 (write 10%)',
  ],
  ...(
    [
      ['an absolute URL', 'http://h/healthz', '/healthz'],
      ['an escaped letter', '/%7Ez/%c3%bc', '/~z/%C3%BC'],
      ['a letter beyond ASCII', '/ü', '/%C3%BC'],
      ['dot segments', '/../x', '/x'],
    ] as const
  ).map(
    ([name, written, cure]) =>
      [
        `an excluded path as ${name}`,
        'policies:',
        `access_log: { exclude: ["${written}"] }\npolicies:`,
        expect.stringContaining(`such as /static/*: "${written}" (write ${cure})`),
      ] as const,
  ),
  [
    'a share below one percent',
    'policies:',
    'access_log: { sample: .5% }\npolicies:',
    '4 «.5%» error: not a share such as 10%: ".5%" (write 0.5%)',
  ],
  [
    'an exporter that is off',
    'policies:',
    'tracing: { otlp: off }\npolicies:',
    expect.not.stringContaining('(write'),
  ],
  [
    'an excluded path with a query',
    'policies:',
    'access_log: { exclude: ["/healthz?a=1"] }\npolicies:',
    '4 «"/healthz?a=1"» error: not a normalised path such as /healthz, or the start of one such as /static/*: "/healthz?a=1" (write /healthz)',
  ],
  [
    'a rule about paths at the top',
    'policies:',
    'encoded_slash: keep\npolicies:',
    expect.stringContaining('error: unknown key "encoded_slash" (write paths: { encoded_slash: … })'),
  ],
  [
    'a page of the issuer',
    'https://auth.example.com',
    'https://auth.example.com/.well-known/jwks.json',
    '3 «https://auth.example.com/.well-known/jwks.json» warning: this is the URL of a metadata document: no token has it as iss (end it before "/.well-known/jwks.json"; write the URL of its keys as jwks)',
  ],
  [
    'a claim similar to a registered one',
    'audience: api',
    'audience: api, consumer: [clientId, clientid]',
    '3 «clientid» warning: not a registered claim, but similar to one: tokens without a claim of this name identify no consumer (did you mean "client_id"?)',
  ],
  [
    'a claim about the token and not its holder',
    'audience: api',
    'audience: api, consumer: [jti]',
    '3 «jti» error: not a claim that identifies the caller, such as client_id: "jti"',
  ],
  [
    'trusted proxies that include every address',
    'policies:',
    'trusted_proxies: [10.0.0.0/8, "::/0"]\npolicies:',
    '4 «"::/0"» warning: every client can forge its address, host and scheme (write the addresses of the proxies, such as 10.0.0.0/8)',
  ],
  [
    'a key of a policy file',
    'public:',
    'api: x\npublic:',
    '1 «api» error: the key "api" belongs in a policy file',
  ],
  [
    'a public URL for many hosts',
    'https://api.example.com',
    'https://*.example.com',
    '1 «https://*.example.com» error: not an origin: only http or https, a host and an optional port: "https://*.example.com"',
  ],
  ...['https://{v}.example.com', 'https://example.com.', 'https://a..b', 'https://-a.b', 'https://a.b:0'].map(
    (url): Mistake => [
      'a public URL that no request can have',
      'https://api.example.com',
      `"${url}"`,
      `1 «"${url}"» error: not an origin: only http or https, a host and an optional port: "${url}"`,
    ],
  ),
  [
    'a public URL with a path',
    'https://api.example.com',
    'https://api.example.com/x',
    '1 «https://api.example.com/x» error: not an origin: only http or https, a host and an optional port: "https://api.example.com/x" (write https://api.example.com)',
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
    'an issuer over plain http',
    'https://auth.example.com',
    'http://auth.example.com',
    '3 «http://auth.example.com» error: not an https URL (no query; http only on this machine): "http://auth.example.com"',
  ],
  [
    'JWT-1: a shared-secret algorithm',
    'audience: api',
    'audience: api, algorithms: [HS256]',
    expect.stringMatching(
      /3 «HS256» error: expected "RS256", .*\(published keys cannot verify a shared secret: .*\)/,
    ),
  ],
  [
    'JWT-1: a shared-secret algorithm in place of a list',
    'audience: api',
    'audience: api, algorithms: HS256',
    expect.stringMatching(/3 «HS256» error: expected a list: .* they cannot verify a shared secret\)/),
  ],
  [
    'HSTS for less than a second',
    '"127.0.0.1:8443"',
    '"127.0.0.1:8443", hsts: 500ms',
    '2 «500ms» error: not a duration of at least 1s, such as 365d, nor 0s: "500ms"',
  ],
  [
    'a maximum lifetime of tokens below a second',
    'audience: api',
    'audience: api, max_lifetime: 999ms',
    '3 «999ms» error: not a duration of at least 1s, such as 30s, 1h or 365d: "999ms"',
  ],
  [
    'a store of an unknown kind',
    'public:',
    'store: mysql://x\npublic:',
    '1 «mysql://x» error: not a store: embedded, embedded:<folder>, redis://host:port or rediss://host:port (with a database such as /1 if needed), redis+cluster://host:port,host:port or redis+sentinel://host:port,host:port/primary: "mysql://x"',
  ],
  [
    'a store in a database that Redis cannot have',
    'public:',
    'store: redis://cache:6379/orders\npublic:',
    '1 «redis://cache:6379/orders» error: not a store: embedded, embedded:<folder>, redis://host:port or rediss://host:port (with a database such as /1 if needed), redis+cluster://host:port,host:port or redis+sentinel://host:port,host:port/primary: "redis://cache:6379/orders"',
  ],
  [
    'a store in a database below zero',
    'public:',
    'store: redis://cache:6379/-1\npublic:',
    '1 «redis://cache:6379/-1» error: not a store: embedded, embedded:<folder>, redis://host:port or rediss://host:port (with a database such as /1 if needed), redis+cluster://host:port,host:port or redis+sentinel://host:port,host:port/primary: "redis://cache:6379/-1"',
  ],
  [
    'a store URL with options of the client',
    'public:',
    'store: redis://cache:6379/1?enableOfflineQueue=true\npublic:',
    '1 «redis://cache:6379/1?enableOfflineQueue=true» error: not a store: embedded, embedded:<folder>, redis://host:port or rediss://host:port (with a database such as /1 if needed), redis+cluster://host:port,host:port or redis+sentinel://host:port,host:port/primary: "redis://cache:6379/1?enableOfflineQueue=true"',
  ],
  [
    'a store URL with a password, which is masked',
    'public:',
    'store: redis://:hunter2@cache:6379/orders\npublic:',
    '1 «redis://:hunter2@cache:6379/orders» error: not a store: embedded, embedded:<folder>, redis://host:port or rediss://host:port (with a database such as /1 if needed), redis+cluster://host:port,host:port or redis+sentinel://host:port,host:port/primary: "redis://********@cache:6379/orders"',
  ],
  [
    'plain HTTP served on every address',
    'admin:',
    'http: { address: ":8080", mode: serve }, admin:',
    '2 «serve» error: mode: serve needs a loopback address or trusted_proxies',
  ],
  [
    'a public admin listener without a token',
    '"127.0.0.1:9901"',
    '":9901"',
    `2 «":9901"» error: an admin listener that is not on loopback needs a token (add token: "\${file:/path}", or listen on 127.0.0.1)`,
  ],
  [
    'a short admin token, which is masked',
    '"127.0.0.1:9901"',
    '"127.0.0.1:9901", token: short-secret',
    '2 «************» error: not a token of 32 to 512 letters, digits and . _ ~ + / -: [redacted] (make one: openssl rand -hex 32)',
  ],
  [
    'an admin token in plain text',
    '"127.0.0.1:9901"',
    '"127.0.0.1:9901", token: 0123456789abcdef0123456789abcdef',
    `2 «********************************» warning: the token is written in this file in plain text (write \${file:/path} or \${env:NAME})`,
  ],
  [
    'an admin token that is sent over the network',
    '"127.0.0.1:9901"',
    '":9901", token: 0123456789abcdef0123456789abcdef',
    '2 «":9901"» warning: every host that reaches this address can read the metrics, and the token is sent unencrypted (prefer loopback, and use listeners.metrics for probes and scrapers)',
  ],
  [
    'an invalid address range',
    'public:',
    'trusted_proxies: [10.0.0.0/33]\npublic:',
    '1 «10.0.0.0/33» error: not an address or a range such as 10.0.0.0/8: "10.0.0.0/33"',
  ],
  [
    'missing certificates',
    '"127.0.0.1:8443"',
    '"127.0.0.1:8443", tls: { certificates: [{ names: [a.example], cert: a.crt, key: a.key }] }',
    '2 «a.crt» error: cannot read the certificate: no such file',
  ],
  [
    'a pattern without matches',
    '../policies/*.yaml',
    '../policy/*.yaml',
    '4 «../policy/*.yaml» error: no policy file matches this pattern (searched policy/*.yaml; a pattern is relative to this file)',
  ],
  [
    'a public URL without a scheme',
    'https://api.example.com',
    '127.0.0.1:8443',
    '1 «127.0.0.1:8443» error: not an origin: only http or https, a host and an optional port: "127.0.0.1:8443" (write https://127.0.0.1:8443)',
  ],
  [
    'a store without a scheme',
    'public:',
    'store: localhost:6379\npublic:',
    '1 «localhost:6379» error: not a store: embedded, embedded:<folder>, redis://host:port or rediss://host:port (with a database such as /1 if needed), redis+cluster://host:port,host:port or redis+sentinel://host:port,host:port/primary: "localhost:6379" (write redis://localhost:6379)',
  ],
];
