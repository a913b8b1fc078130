// The map from slots to cluster nodes, read from the nodes every few seconds and after redirects.
import { type RedisAddress, type RedisServer, serverName } from '../redis-address.ts';
import type { RedisClients } from './client.ts';
import type { Redirected } from './failures.ts';
import { type LinkOptions, openLink, type RedisLink } from './link.ts';

const REFRESH_EVERY_MS = 5000;
const REFRESH_EVERY_WHILE_DOWN_MS = 250;
/** No request waits for a read of the map. */
const ANSWER_WITHIN_MS = 1000;

interface ClusterNode {
  readonly server: RedisServer;
  readonly link: RedisLink;
}

export interface ClusterMap {
  /** Settles after the first read of the map and the first connection attempts to all primaries. */
  readonly opened: Promise<void>;
  readonly ready: () => boolean;
  readonly problem: () => string | undefined;
  readonly holderOf: (slot: number) => RedisLink | undefined;
  /**
   * The link to the node that a redirect names. Reads the map again, unless the redirect is for one command
   * (ASK).
   */
  readonly follow: (redirected: Redirected, from: RedisLink) => RedisLink;
  readonly close: () => void;
}

export function openClusterMap(
  address: Extract<RedisAddress, { readonly kind: 'cluster' }>,
  clients: RedisClients,
  options: LinkOptions,
): ClusterMap {
  const nodes = new Map<string, ClusterNode>();
  /** Nodes named by redirects since the last read. A node that gets its first slots is not in the map yet. */
  const followed = new Set<string>();
  let primaries: readonly ClusterNode[] = [];
  let holders: readonly (RedisLink | undefined)[] = [];
  let allSlotsAssigned = false;
  let up = false;
  let closed = false;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const nodeAt = (server: RedisServer): ClusterNode => {
    const name = serverName(server);
    const known = nodes.get(name);
    if (known !== undefined) return known;
    const link: RedisLink = openLink(clients.node(address, server), {
      ...options,
      onRefused: (code) => {
        if (code !== 'MOVED' && code !== 'ASK') options.onRefused(code);
      },
      writeKey: () => keyHeldBy(link),
      onState: () => notifyState(),
    });
    const node = { server, link };
    nodes.set(name, node);
    return node;
  };
  const keyHeldBy = (link: RedisLink): string => {
    for (let number = 0; number < SLOTS; number += 1) {
      const key = `sundial:{${number}}:written`;
      if (holders[slotOf(key)] === link) return key;
    }
    return 'sundial:{state}:written';
  };

  const notifyState = (): void => {
    const now = !closed && allSlotsAssigned && primaries.every(({ link }) => link.up);
    if (now === up) return;
    up = now;
    options.onState(now);
    if (!now) refreshLater();
  };

  const applySlots = (ranges: readonly SlotRange[]): void => {
    const next: (RedisLink | undefined)[] = Array.from({ length: SLOTS });
    const listed = new Set<ClusterNode>();
    for (const { from, to, primary } of ranges) {
      const node = nodeAt(primary);
      listed.add(node);
      next.fill(node.link, from, to + 1);
    }
    holders = next;
    allSlotsAssigned = !next.includes(undefined);
    primaries = [...listed];
    for (const [name, node] of nodes) {
      if (listed.has(node) || followed.has(name)) continue;
      nodes.delete(name);
      node.link.close();
    }
    followed.clear();
  };

  /** Uses the first reply. Nodes that are not up are queried only if no ready node is up. */
  const readMap = async (): Promise<void> => {
    const ready = [...nodes.values()].filter(({ link }) => link.ready);
    const healthy = ready.filter(({ link }) => link.up);
    const readSlots = async ({ server, link }: ClusterNode) =>
      slotRanges(await link.sendCommand(['CLUSTER', 'SLOTS'], ANSWER_WITHIN_MS), server);
    // Each link has recorded and reported its failure.
    const ranges = await Promise.any((healthy.length > 0 ? healthy : ready).map(readSlots)).catch(
      () => undefined,
    );
    if (closed) return;
    if (ranges === undefined) for (const server of address.servers) nodeAt(server);
    else applySlots(ranges);
    notifyState();
  };
  const refreshNow = (): Promise<void> => {
    running ??= readMap().finally(() => {
      running = undefined;
      refreshLater();
    });
    return running;
  };
  const refreshLater = (): void => {
    clearTimeout(timer);
    if (closed) return;
    timer = setTimeout(() => void refreshNow(), up ? REFRESH_EVERY_MS : REFRESH_EVERY_WHILE_DOWN_MS);
    timer.unref();
  };

  const open = async (): Promise<void> => {
    // One ready node is enough to start with.
    const seeds = address.servers.map((server) => nodeAt(server).link);
    const oneReady = Promise.any(seeds.map(whenReady)).catch(() => undefined);
    await Promise.race([oneReady, Promise.all(seeds.map(({ opened }) => opened))]);
    await refreshNow();
    await Promise.all(primaries.map(({ link }) => link.opened));
  };

  return {
    opened: open(),
    ready: () => allSlotsAssigned && primaries.every(({ link }) => link.ready),
    problem: () => [...nodes.values()].map(({ link }) => link.problem).find((each) => each !== undefined),
    holderOf: (slot) => holders[slot],
    follow: (redirected, from) => {
      const source = [...nodes.values()].find(({ link }) => link === from)?.server;
      // After ASK the slot still belongs to `from`. During its migration, every command for a moved key gets
      // an ASK.
      if (!redirected.isAsk) void refreshNow();
      if (source === undefined || closed) throw redirected;
      const target = serverAt(redirected.to, source);
      followed.add(serverName(target));
      return nodeAt(target).link;
    },
    close: () => {
      closed = true;
      clearTimeout(timer);
      for (const { link } of nodes.values()) link.close();
    },
  };
}

async function whenReady(link: RedisLink): Promise<void> {
  await link.opened;
  if (!link.ready) throw new Error('the node is not ready');
}

const SLOTS = 16_384;

/** Slots `from` to `to`, both included, and the server that takes writes for them. */
interface SlotRange {
  readonly from: number;
  readonly to: number;
  readonly primary: RedisServer;
}

/** Hashes the hash tag: the part between the first `{` and the next `}`, if it is not empty. */
export function slotOf(key: string): number {
  const from = key.indexOf('{');
  const to = from < 0 ? -1 : key.indexOf('}', from);
  return crc16(Buffer.from(to > from + 1 ? key.slice(from + 1, to) : key)) % SLOTS;
}

/**
 * Parses the reply of CLUSTER SLOTS. A node without a host is the node that sent the reply.
 * @throws TypeError for a reply of another shape
 */
function slotRanges(reply: unknown, server: RedisServer): readonly SlotRange[] {
  if (!Array.isArray(reply)) throw new TypeError('CLUSTER SLOTS returned an unexpected reply');
  return reply.map((range: unknown) => {
    const [from, to, primary]: readonly unknown[] = Array.isArray(range) ? range : [];
    const [host, port]: readonly unknown[] = Array.isArray(primary) ? primary : [];
    if (!Number.isInteger(from) || !Number.isInteger(to) || !Number.isInteger(port))
      throw new TypeError('CLUSTER SLOTS returned an unexpected reply');
    const name = typeof host === 'string' && host !== '' ? host : server.host;
    return { from: Number(from), to: Number(to), primary: { host: name, port: Number(port) } };
  });
}

/** The server that a node's redirect names as `host:port`; without a host it is the node itself. */
function serverAt(text: string, source: RedisServer): RedisServer {
  const colon = text.lastIndexOf(':');
  const host = text.slice(0, colon).replace(/^\[|\]$/g, '') || source.host;
  return { host, port: Number(text.slice(colon + 1)) };
}

/** CRC-16/XMODEM, as specified for Redis Cluster. */
function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) crc = ((crc << 8) & 0xffff) ^ (REMAINDERS[(crc >> 8) ^ byte] ?? 0);
  return crc;
}

const REMAINDERS = Uint16Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte << 8;
  for (let bit = 0; bit < 8; bit += 1)
    remainder = remainder & 0x8000 ? (remainder << 1) ^ 0x1021 : remainder << 1;
  return remainder;
});
