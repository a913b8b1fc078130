// Lists the request fields that no upstream receives as the client sent them.
import type { HeaderRules } from './rules.ts';

/** Hop-by-hop fields and fields that only the gateway sets. No policy can keep them. */
const NEVER_FORWARDED: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization', 'te'],
  ...['trailer', 'transfer-encoding', 'upgrade', 'http2-settings', 'expect', 'content-length', 'host', 'via'],
  ...['x-request-id', 'traceparent', 'tracestate', 'forwarded', 'x-forwarded-for', 'x-forwarded-host'],
  ...['x-forwarded-proto', 'x-forwarded-prefix'],
  // CGI services read it as HTTP_PROXY, and their HTTP clients then use it as their proxy.
  'proxy',
]);

/** Fields with which a client claims an address, an identity or a target, as common proxies name them (XFF-1). */
export const CLAIMED_NAMES: ReadonlySet<string> = new Set([
  // Addresses.
  ...['x-real-ip', 'x-client-ip', 'x-cluster-client-ip', 'true-client-ip', 'client-ip', 'proxy-client-ip'],
  ...['fastly-client-ip', 'x-azure-clientip', 'x-azure-socketip', 'x-envoy-external-address'],
  ...['x-original-forwarded-for', 'forwarded-for'],
  // Identities.
  ...['x-client-id', 'x-scopes', 'x-client-dn', 'x-client-verify', 'x-tls-client-cert', 'x-arr-clientcert'],
  ...['iv-user', 'iv-groups', 'iv-creds', 'sm-user'],
  // Another target or scheme than the one the gateway judged (ORD-2).
  ...['x-original-url', 'x-original-uri', 'x-original-host', 'x-rewrite-url', 'x-envoy-original-path'],
  ...['x-host', 'forwarded-host', 'x-scheme', 'x-arr-ssl', 'front-end-https', 'x-forwarded'],
  // Internal fields of proxies and frameworks.
  ...['x-middleware-subrequest', 'x-envoy-internal', 'x-sendfile-type', 'x-accel-mapping'],
]);

export const CLAIMED_PREFIXES: readonly string[] = [
  ...['x-forwarded-', 'cf-connecting-ip', 'wl-proxy-', 'remote-', 'x-remote-', 'x-user-'],
  ...['client-cert', 'x-client-cert', 'ssl-client-', 'x-ssl-client', 'x-auth-request-', 'x-webauth-'],
  ...['x-ms-client-principal', 'x-ms-token-', 'x-goog-authenticated-user-', 'x-amzn-oidc-', 'x-amzn-mtls-'],
  ...['cf-access-authenticated-user-', 'tailscale-user-', 'x-authentik-', 'x-pomerium-claim-'],
];

/** Fields with which some services replace the request method, with their usual spelling. The gateway judges them. */
export const METHOD_OVERRIDES: ReadonlyMap<string, string> = new Map([
  ['x-http-method', 'X-HTTP-Method'],
  ['x-http-method-override', 'X-HTTP-Method-Override'],
  ['x-method-override', 'X-Method-Override'],
]);

const CLAIMED_PREFIX = new RegExp(`^(?:${CLAIMED_PREFIXES.join('|')})`);
const UNUSUAL = /[^a-z0-9-]/g;

export interface ClientField {
  /** The name for a service that maps unusual characters to `_`, as CGI variables do (SMG-25). */
  readonly plain: string;
  /**
   * `own`: never forwarded. `claim`: forwarded only if a policy keeps it. `override`: judged (ORD-2). Undefined: any other
   * field.
   */
  readonly kind: 'own' | 'claim' | 'override' | undefined;
}

/** A cache: classifying the names of one request anew takes a microsecond. */
const known = new Map<string, ClientField>();
const MAX_KNOWN = 1_000;
const LONGEST_KNOWN = 64;

export function clientField(name: string): ClientField {
  const before = known.get(name);
  if (before !== undefined) return before;
  const plain = name.replace(UNUSUAL, '-');
  const field = { plain, kind: kindOf(plain) };
  if (known.size < MAX_KNOWN && name.length <= LONGEST_KNOWN) known.set(name, field);
  return field;
}

function kindOf(plain: string): ClientField['kind'] {
  if (NEVER_FORWARDED.has(plain)) return 'own';
  if (CLAIMED_NAMES.has(plain) || CLAIMED_PREFIX.test(plain)) return 'claim';
  return METHOD_OVERRIDES.has(plain) ? 'override' : undefined;
}

/** Whether the upstream gets the field. Another spelling of a listed name is dropped, because no rule applies to it. */
export function isForwarded(name: string, { plain, kind }: ClientField, kept: readonly string[]): boolean {
  switch (kind) {
    case undefined:
      return true;
    case 'override':
      return name === plain;
    case 'claim':
      return name === plain && kept.includes(name);
    case 'own':
      return false;
  }
}

/** The names that the rules keep. `viaTrusted`: a trusted proxy sent the request. */
export function keptFields(
  rules: HeaderRules | undefined,
  viaTrusted: boolean | undefined,
): readonly string[] {
  const kept = rules?.kept;
  return kept !== undefined && (kept.from === 'any' || viaTrusted === true) ? kept.names : NONE;
}

const NONE: readonly string[] = [];
