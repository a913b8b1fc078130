// Checks `config/gateway.yaml` across its sections: listeners, plain HTTP, admin, proxies, identities.
import { isLoopback } from '../../policy/notation.ts';
import type { Report } from '../../sections/view.ts';
import type { Path, SourceDocument } from '../read/document.ts';
import { nearRegistered } from '../read/near-claims.ts';
import { keysOf, valueAt } from '../read/values.ts';
import type { Address } from '../settings.ts';
import { checkNotify } from './notify.ts';
import type { GatewayView } from './views.ts';

export function checkGateway(view: GatewayView, report: Report): void {
  const { listeners, trusted_proxies, public: origin } = view.parts;
  checkListeners(view, report);
  if (
    listeners?.http?.mode === 'serve' &&
    !isLocal(listeners.http.address) &&
    (trusted_proxies ?? []).length === 0
  ) {
    report(['listeners', 'http', 'mode'], {
      rule: 'plain-http',
      message: 'mode: serve needs a loopback address or trusted_proxies',
    });
  }
  checkAdmin(view, report);
  checkProxies(view, report);
  checkIdentities(view, report);
  checkSharedIds(view, report);
  checkNotify(view, report);
  if (origin?.startsWith('http:') && listeners?.http?.mode !== 'serve') {
    report(['public'], {
      rule: 'public',
      message: 'a public address with http needs listeners.http with mode: serve',
    });
  }
  for (const name of keysOf(valueAt(view.document.value, ['identity']))) {
    if (/^[a-z][a-z0-9-]{0,62}$/.test(name)) continue;
    report(['identity', name], {
      rule: 'shape',
      message: 'not a name: a lower-case letter, then letters, digits and hyphens',
      at: 'key',
    });
  }
}

function checkProxies({ parts }: GatewayView, report: Report): void {
  for (const [index, range] of (parts.trusted_proxies ?? []).entries()) {
    if (!range.endsWith('/0')) continue;
    report(['trusted_proxies', index], {
      rule: 'proxies',
      severity: 'warning',
      message: 'every client can forge its address, host and scheme',
      hint: 'write the addresses of the proxies, such as 10.0.0.0/8',
    });
  }
}

const CLIENT_CERTIFICATES = ['listeners', 'https', 'tls', 'client_certificates'];

function checkIdentities({ document, parts }: GatewayView, report: Report): void {
  const headers = new Map<string, string>();
  for (const [name, identity] of Object.entries(parts.identity ?? {})) {
    if ('header' in identity) {
      const field = identity.header.toLowerCase();
      const other = headers.get(field);
      if (other !== undefined) {
        const message = `${other} already reads keys from this header`;
        report(['identity', name, 'header'], { rule: 'identity', message });
      }
      headers.set(field, other ?? name);
      if (parts.listeners !== undefined && parts.listeners.admin === undefined) {
        const message = 'without listeners.admin, keys can be neither made nor revoked';
        report(['identity', name], { rule: 'identity', severity: 'warning', message, at: 'key' });
      }
    }
    if ('certificate' in identity && !document.has(CLIENT_CERTIFICATES)) {
      const message = 'no listener requests client certificates';
      const hint = 'add listeners.https.tls.client_certificates: { ca: <file>, mode: optional }';
      report(['identity', name, 'certificate'], { rule: 'identity', message, hint, at: 'key' });
    }
    checkConcealed(document, ['identity', name, 'client', 'secret'], 'secret', 'secret', report);
    if (!('audience' in identity) && !('introspection' in identity)) continue;
    const { issuer, consumer = [] } = identity;
    for (const [index, claim] of consumer.entries()) {
      const slip = nearRegistered(claim);
      if (slip !== undefined) report(['identity', name, 'consumer', index], slip);
    }
    const wellKnown = issuer?.indexOf('/.well-known/') ?? -1;
    if (issuer === undefined || wellKnown < 0) continue;
    const path = ['identity', name, 'issuer'];
    report(path, {
      rule: 'issuer',
      severity: 'warning',
      message: 'this is the URL of a metadata document: no token has it as iss',
      hint: `end it before ${document.show(path, issuer.slice(wellKnown))}; write the URL of its keys as jwks`,
    });
  }
}

function checkConcealed(
  document: SourceDocument,
  path: Path,
  value: string,
  rule: string,
  report: Report,
): void {
  if (!document.has(path) || document.isSecret(path)) return;
  report(path, {
    rule,
    severity: 'warning',
    message: `the ${value} is written in this file in plain text`,
    hint: `write \${file:/path} or \${env:NAME}`,
  });
}

function checkAdmin({ document, parts }: GatewayView, report: Report): void {
  const admin = parts.listeners?.admin;
  if (admin === undefined) return;
  const token = ['listeners', 'admin', 'token'];
  checkConcealed(document, token, 'token', 'admin', report);
  if (isLocal(admin.address)) return;
  if (!document.has(token)) {
    report(['listeners', 'admin', 'address'], {
      rule: 'admin',
      message: 'an admin listener that is not on loopback needs a token',
      hint: `add token: "\${file:/path}", or listen on 127.0.0.1`,
    });
    return;
  }
  const message =
    'every host that reaches this address can read the metrics, and the token is sent unencrypted';
  report(['listeners', 'admin', 'address'], {
    rule: 'admin',
    severity: 'warning',
    message,
    hint: 'prefer loopback, and use listeners.metrics for probes and scrapers',
  });
}

function checkListeners({ document, parts }: GatewayView, report: Report): void {
  if (parts.listeners === undefined) return;
  const written = keysOf(valueAt(document.value, ['listeners']));
  if (!written.includes('https') && !written.includes('http')) {
    report(['listeners'], {
      rule: 'listeners',
      message: 'neither an https nor an http listener is configured',
      at: 'key',
    });
  }
  const taken: { name: string; address: Address }[] = [];
  for (const [name, listener] of Object.entries(parts.listeners)) {
    if (listener === undefined) continue;
    const { address } = listener;
    const other = taken.find((one) => overlap(one.address, address));
    if (other === undefined) taken.push({ name, address });
    else
      report(['listeners', name, 'address'], {
        rule: 'listeners',
        message: `the ${other.name} listener has this address`,
      });
  }
}

function overlap(a: Address, b: Address): boolean {
  return a.port !== 0 && a.port === b.port && (isAny(a) || isAny(b) || a.host === b.host);
}

function isAny({ host }: Address): boolean {
  return host === undefined || host === '0.0.0.0' || host === '::';
}

function isLocal({ host }: Address): boolean {
  return host !== undefined && isLoopback(host);
}

/** Without `prefix`, `acme` of one issuer passes for `acme` of another. The operator names the owners of keys. */
function checkSharedIds({ parts }: GatewayView, report: Report): void {
  const [first, ...more] = Object.entries(parts.identity ?? {}).flatMap(([name, identity]) => {
    if (!('issuer' in identity || 'introspection' in identity) || identity.prefix !== undefined) return [];
    const giver = identity.issuer ?? ('introspection' in identity ? originOf(identity.introspection) : '');
    return [{ name, giver }];
  });
  for (const { name, giver } of more) {
    if (first === undefined || isSameIssuer(first.giver, giver)) continue;
    report(['identity', name], {
      rule: 'identity',
      severity: 'warning',
      message: `a consumer of ${name} and one of ${first.name} with the same id count as one: they share limits, exceptions and usage`,
      hint: `write prefix: ${name}/, or prefix: off if equal ids mean the same consumer`,
      at: 'key',
    });
  }
}

function originOf(endpoint: string): string {
  return new URL(endpoint).origin;
}

/** Without `issuer`, an introspection endpoint counts as part of the issuer at its origin. */
function isSameIssuer(one: string, other: string): boolean {
  return one === other || originOf(one) === other || originOf(other) === one;
}
