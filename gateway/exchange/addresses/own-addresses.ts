// Under which hosts a service writes addresses of its own: its targets, and the Host field that it gets.
// Made once for each upstream of a plan, when an answer first holds an address.
import type { UpstreamPlan } from '../../plan/plan.ts';
import { hostKey, LOOPBACK } from '../../plan/route-table.ts';

export interface OwnAddresses {
  /** Whatever the scheme: services behind a proxy often write the wrong one. */
  readonly has: (url: Authority) => boolean;
  /** Of the targets, as most services write them. */
  readonly origins: readonly Origin[];
  /** Whether one of them stands in a text that is no sound URL. */
  readonly isShownIn: (text: string) => boolean;
  /** Host names in lower case, without port. */
  readonly hosts: readonly string[];
}

export type Origin = Authority & Pick<URL, 'origin' | 'protocol'>;
/** As a URL has them: without the default port of its scheme. */
type Authority = Pick<URL, 'hostname' | 'port'>;

const made = new WeakMap<UpstreamPlan, OwnAddresses>();

export function ownAddresses(upstream: UpstreamPlan): OwnAddresses {
  const known = made.get(upstream);
  if (known !== undefined) return known;
  const own = makeOwnAddresses(upstream);
  made.set(upstream, own);
  return own;
}

/** Equal for two authorities that name the same place; the default port of any scheme counts as none. */
export function authorityKey({ hostname, port }: Authority): string {
  const host = hostKey(unmapped(hostname.toLowerCase().replace(/\.$/, '')));
  return port === '' || port === '80' || port === '443' ? host : `${host}:${port}`;
}

/** The same for a host as requests name it. */
export function hostPortKey(text: string): string {
  const colon = text.lastIndexOf(':');
  if (colon < text.lastIndexOf(']') || colon < 0) return authorityKey({ hostname: text, port: '' });
  return authorityKey({ hostname: text.slice(0, colon), port: String(Number(text.slice(colon + 1))) });
}

function makeOwnAddresses({ targets, host }: Pick<UpstreamPlan, 'targets' | 'host'>): OwnAddresses {
  const reached = targets.map(({ origin }) => new URL(origin));
  const named = host === undefined ? [] : [new URL(`http://${host}`)];
  // nginx writes the host that it was asked for with the port that it listens on.
  const withPorts = named.flatMap(({ hostname }) => reached.map(({ port }) => ({ hostname, port })));
  const all = [...reached, ...named, ...withPorts];
  const keys = new Set(all.map(authorityKey));
  const spelled = all.flatMap(({ hostname, port }) =>
    namesOf(hostname).map((name) => (port === '' ? name : `${name}:${port}`)),
  );
  const shown = new RegExp(
    `(?:[/\\\\]{2}|:[/\\\\]?|@)(?:${spelled.map(RegExp.escape).join('|')})(?![\\w.-])`,
    'i',
  );
  return {
    origins: reached.map(({ origin, protocol, hostname, port }) => ({ origin, protocol, hostname, port })),
    has: (url) => keys.has(authorityKey(url)),
    isShownIn: (text) => shown.test(text.replace(/\[[\da-f:.]+\]/gi, unmapped)),
    hosts: [...new Set(all.flatMap(({ hostname }) => namesOf(hostname)))],
  };
}

function namesOf(hostname: string): readonly string[] {
  return LOOPBACK.includes(hostname) ? LOOPBACK : [unmapped(hostname)];
}

/** `10.0.0.7` of `[::ffff:10.0.0.7]` in any of its spellings (RFC 4291 §2.5.5.2); any other host as it is. */
function unmapped(hostname: string): string {
  const address = hostname.startsWith('[') ? URL.parse(`http://${hostname}`)?.hostname : undefined;
  const groups = address?.match(/^\[::ffff:([\da-f]+):([\da-f]+)\]$/)?.slice(1);
  if (groups === undefined) return hostname;
  return groups
    .map((group) => Number.parseInt(group, 16))
    .flatMap((bits) => [bits >> 8, bits & 255])
    .join('.');
}
