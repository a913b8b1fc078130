// Under which hosts a service writes addresses of its own: its targets, and the Host field that it gets.
// Made once for each upstream of a plan, when an answer first holds an address.
import type { UpstreamPlan } from '../../plan/plan.ts';
import { LOOPBACK } from '../../plan/route-table.ts';
import { serverKey, serverName } from '../../plan/upstream-places.ts';

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

/** The key of the server that a Host field names. */
export function hostPortKey(text: string): string {
  const colon = text.lastIndexOf(':');
  if (colon < text.lastIndexOf(']') || colon < 0) return serverKey({ hostname: text, port: '' });
  return serverKey({ hostname: text.slice(0, colon), port: String(Number(text.slice(colon + 1))) });
}

function makeOwnAddresses({ targets, host }: Pick<UpstreamPlan, 'targets' | 'host'>): OwnAddresses {
  const reached = targets.map(({ origin }) => new URL(origin));
  const named = host === undefined ? [] : [new URL(`http://${host}`)];
  // nginx writes the host that it was asked for with the port that it listens on.
  const withPorts = named.flatMap(({ hostname }) => reached.map(({ port }) => ({ hostname, port })));
  const all = [...reached, ...named, ...withPorts];
  const keys = new Set(all.map(serverKey));
  const spelled = all.flatMap(({ hostname, port }) =>
    namesOf(hostname).map((name) => `${RegExp.escape(name)}\\.?${port === '' ? '' : `:${port}`}`),
  );
  const shown = new RegExp(`(?:[/\\\\]{2}|:[/\\\\]?|@)(?:${spelled.join('|')})(?![\\w.-])`, 'i');
  return {
    origins: reached.map(({ origin, protocol, hostname, port }) => ({ origin, protocol, hostname, port })),
    has: (url) => keys.has(serverKey(url)),
    isShownIn: (text) => shown.test(text.replace(/\[[\da-f:.]+\]/gi, serverName)),
    hosts: [...new Set(all.flatMap(({ hostname }) => namesOf(hostname)))],
  };
}

function namesOf(hostname: string): readonly string[] {
  const name = serverName(hostname);
  return [...(name === 'localhost' ? LOOPBACK : [name]), hostname];
}
