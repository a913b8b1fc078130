// The policy of sundial/full/orders.yaml in the usual style: a table, and functions called for each request.
import type { Redis } from 'ioredis';

export interface Version {
  readonly label: string;
  readonly deprecated?: string;
  readonly sunset?: string;
  readonly successor?: string;
  readonly predecessor?: string;
  readonly guide?: string;
  readonly status?: string;
}

export const versions: Readonly<Record<string, Version>> = {
  v1: {
    label: 'v1',
    deprecated: '2025-01-15T00:00:00Z',
    sunset: '2099-01-15T00:00:00Z',
    successor: 'v2',
    guide: 'https://dev.example.com/orders/v1-to-v2',
    status: 'https://status.example.com/orders-v1',
  },
  v2: { label: 'v2', predecessor: 'v1' },
};

export type Stage = 'active' | 'deprecated' | 'sunset';

export function stageOf(version: Version, now: number): Stage {
  if (version.sunset !== undefined && now >= Date.parse(version.sunset)) return 'sunset';
  if (version.deprecated !== undefined && now >= Date.parse(version.deprecated)) return 'deprecated';
  return 'active';
}

/** `tail`: the path after the API's base. */
export function lifecycleHeaders(version: Version, tail: string, now: number): Record<string, string> {
  const { label, deprecated, sunset, successor, predecessor, guide, status } = version;
  const headers: Record<string, string> = {};
  if (predecessor !== undefined) {
    headers.link = `<https://api.example.com/api/${predecessor}/orders${tail}>; rel="predecessor-version"`;
  }
  if (deprecated === undefined || sunset === undefined || stageOf(version, now) === 'active') return headers;
  headers.deprecation = `@${Date.parse(deprecated) / 1000}`;
  headers.sunset = new Date(sunset).toUTCString();
  const links = [];
  if (guide !== undefined) links.push(`<${guide}>; rel="deprecation"; type="text/html"`);
  if (status !== undefined) links.push(`<${status}>; rel="status"`);
  links.push('<https://api.example.com/.well-known/lifecycle/orders>; rel="sunset"');
  if (successor !== undefined) {
    links.push(`<https://api.example.com/api/${successor}/orders${tail}>; rel="successor-version"`);
  }
  headers.link = links.join(', ');
  headers.warning = `299 - "Version ${label} is deprecated and will be removed on ${sunset.slice(0, 10)}; see ${guide}"`;
  if (status !== undefined) headers['x-api-deprecation-info'] = status;
  return headers;
}

export interface Limit {
  readonly name: string;
  readonly units: number;
  readonly windowSeconds: number;
}

export const limits: Readonly<Record<'active' | 'deprecated', Limit>> = {
  active: { name: 'default', units: 9_000_000, windowSeconds: 60 },
  deprecated: { name: 'deprecated', units: 6_000_000, windowSeconds: 60 },
};

export interface Taken {
  readonly allowed: boolean;
  readonly remaining: number;
  /** Seconds until a refused client may retry, or until the bucket is full. */
  readonly seconds: number;
}

/** Generic cell rate algorithm by the clock of Redis. Stores one integer of microseconds per key. */
const SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local units, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local step = window / units
local tat = math.max(now, tonumber(redis.call('GET', KEYS[1]) or now)) + step
local open = tat - window
if now < open then return { 0, 0, math.ceil((open - now) / 1000000) } end
redis.call('SET', KEYS[1], string.format('%.0f', tat), 'PX', math.ceil((tat - now) / 1000))
return { 1, math.floor((now - open) / step), math.ceil((tat - now) / 1000000) }`;

/** Calls Redis once per request. */
export function createLimiter(redis: Redis): (key: string, limit: Limit) => Promise<Taken> {
  redis.defineCommand('takeUnit', { numberOfKeys: 1, lua: SCRIPT });
  const commands = redis as Redis & {
    takeUnit: (
      key: string,
      units: number,
      windowMicros: number,
    ) => Promise<readonly [number, number, number]>;
  };
  return async (key, limit) => {
    const [allowed, remaining, seconds] = await commands.takeUnit(
      key,
      limit.units,
      limit.windowSeconds * 1_000_000,
    );
    return { allowed: allowed === 1, remaining, seconds };
  };
}

export function quotaHeaders(limit: Limit, taken: Taken): Record<string, string> {
  return {
    'ratelimit-policy': `"${limit.name}";q=${limit.units};w=${limit.windowSeconds}`,
    ratelimit: `"${limit.name}";r=${taken.remaining};t=${taken.seconds}`,
    'x-ratelimit-limit': String(limit.units),
    'x-ratelimit-remaining': String(taken.remaining),
  };
}

/** A window per address in this process, checked before costly steps. */
export function createGuard(units: number, windowMs: number): (address: string, now: number) => boolean {
  const windows = new Map<string, { startedAt: number; count: number }>();
  return (address, now) => {
    const window = windows.get(address);
    if (window === undefined || now - window.startedAt >= windowMs) {
      windows.set(address, { startedAt: now, count: 1 });
      return true;
    }
    window.count += 1;
    return window.count <= units;
  };
}
