// Compiles an upstream with its defaults, and the client fields that it does not receive.
import type { ApiPlan, Timeouts, UpstreamPlan } from '../../plan/plan.ts';
import type { ConnectionRules, RetryRules } from '../../plan/upstreams/connection-rules.ts';
import type { BreakerRules, HealthRules, TargetRules } from '../../plan/upstreams/target-rules.ts';
import { clientField } from '../../policy/headers/client-fields.ts';
import { type Label, UNVERSIONED } from '../../policy/versioning/resolution.ts';
import type { PolicyFile, UpstreamFile } from '../policy-file.ts';
import { DEFAULT_VERSION_HEADER } from '../resolve/grammar.ts';

/** The same for every upstream of an API. */
type SharedRules = Pick<UpstreamPlan, 'answerFields'> & { readonly withheld: readonly string[] };

/** XFF-1: versions may share a service, so the identity headers of one version are withheld for all. */
export function withheldByAll(
  file: PolicyFile,
  { headers, keyHeaders, versionHeaders }: Pick<ApiPlan, 'headers' | 'keyHeaders' | 'versionHeaders'>,
): SharedRules['withheld'] {
  const identityHeaders = Object.values(file.upstreams ?? {}).flatMap(({ identity_headers: each }) => [
    each?.consumer ?? [],
    each?.scopes ?? [],
  ]);
  const { set = {}, remove = [] } = headers?.request ?? {};
  return [...versionHeaders, ...identityHeaders.flat(), ...keyHeaders, ...Object.keys(set), ...remove];
}

/** The upstream of an API without versions may have any name and gets no version. */
export function compileUpstream(
  { api, base, upstreams = {} }: PolicyFile,
  version: Label,
  { withheld, answerFields }: SharedRules,
): UpstreamPlan | undefined {
  const label = version === UNVERSIONED ? undefined : version;
  const file = label === undefined ? Object.values(upstreams)[0] : upstreams[label];
  if (file === undefined) return undefined;
  const { identity_headers: names, version_as: by = { header: DEFAULT_VERSION_HEADER } } = file;
  const versionAs = label === undefined || typeof by === 'string' ? undefined : by;
  const versionHeader = versionAs && 'header' in versionAs ? versionAs.header : undefined;
  return {
    name: label === undefined ? api : `${api}-${label}`,
    targets: file.targets.map((origin) => ({ origin })),
    path: upstreamPath(file, base, label),
    versionHeader,
    versionQuery: versionAs && 'query' in versionAs ? versionAs.query : undefined,
    withheld: new Set(
      [
        ...withheld,
        ...(versionHeader === undefined ? [] : [versionHeader]),
        ...(file.authorization === 'strip' ? ['authorization'] : []),
      ].map((name) => clientField(name.toLowerCase()).plain),
    ),
    answerFields,
    identityHeaders: names && { consumer: names.consumer, scopes: names.scopes },
    timeouts: compileTimeouts(file.timeout),
    ...compileTargetRules(file),
    ...compileConnectionRules(file),
  };
}

/** The service path before the tail, without a trailing slash. Empty for the root. `label`: undefined without versions. */
export function upstreamPath(
  { path, version_as }: Pick<UpstreamFile, 'path' | 'version_as'>,
  base: string,
  label: Label | undefined,
): string {
  const plain = path ?? base;
  return (version_as === 'path' && label !== undefined ? `/${label}${plain}` : plain).replace(/\/$/, '');
}

/** Milliseconds. */
export const DEFAULT_TIMEOUTS: Timeouts = { connect: 1_000, headers: 5_000, idle: 30_000, total: 60_000 };

const DEFAULT_CONNECTIONS: ConnectionRules = { max: 256, queue: 1_024, waitMs: 1_000 };
const DEFAULT_RETRIES: RetryRules = { attempts: 1, budget: 0.2 };

export function compileTimeouts(timeout: UpstreamFile['timeout']): Timeouts {
  const written = typeof timeout === 'number' ? { headers: timeout } : (timeout ?? {});
  const { connect, headers, idle, total } = DEFAULT_TIMEOUTS;
  return {
    connect: written.connect ?? connect,
    headers: written.headers ?? headers,
    idle: written.idle ?? idle,
    total: written.total ?? total,
  };
}

/** `file` contains PEM texts in place of paths here. */
function compileConnectionRules(
  file: UpstreamFile,
): Pick<UpstreamPlan, 'host' | 'connections' | 'retries' | 'http2' | 'tls'> {
  const { connections, retries = {}, tls } = file;
  return {
    host: file.host,
    connections: {
      max: connections?.max ?? DEFAULT_CONNECTIONS.max,
      queue: connections?.queue ?? DEFAULT_CONNECTIONS.queue,
      waitMs: connections?.wait ?? DEFAULT_CONNECTIONS.waitMs,
    },
    retries:
      retries === 'off'
        ? undefined
        : {
            attempts: retries.attempts ?? DEFAULT_RETRIES.attempts,
            budget: retries.budget ?? DEFAULT_RETRIES.budget,
          },
    http2: file.http2 ?? false,
    tls: tls && { ca: tls.ca, cert: tls.cert, key: tls.key, name: tls.name },
  };
}

/** Times in milliseconds. */
const DEFAULT_HEALTH: Omit<HealthRules, 'path'> = {
  every: 5_000,
  timeout: 1_000,
  healthy: 2,
  unhealthy: 3,
};
export const DEFAULT_BREAKER: BreakerRules = { failures: 5, open: 10_000, strict: false };

export function compileTargetRules(file: UpstreamFile): TargetRules {
  return {
    balance: file.balance ?? 'round-robin',
    slowStart: file.slow_start ?? 0,
    health: compileHealth(file.health),
    breaker: compileBreaker(file),
  };
}

function compileHealth(health: UpstreamFile['health']): HealthRules | undefined {
  if (health === undefined) return undefined;
  const written = typeof health === 'string' ? { path: health } : health;
  return {
    path: written.path,
    every: written.every ?? DEFAULT_HEALTH.every,
    timeout: written.timeout ?? DEFAULT_HEALTH.timeout,
    healthy: written.healthy ?? DEFAULT_HEALTH.healthy,
    unhealthy: written.unhealthy ?? DEFAULT_HEALTH.unhealthy,
  };
}

/** By default a single target has no breaker, because no other target could respond instead. */
function compileBreaker({ breaker, targets }: UpstreamFile): BreakerRules | undefined {
  if (breaker === 'off') return undefined;
  if (breaker === undefined) return targets.length > 1 ? DEFAULT_BREAKER : undefined;
  return {
    failures: breaker.failures ?? DEFAULT_BREAKER.failures,
    open: breaker.open ?? DEFAULT_BREAKER.open,
    strict: true,
  };
}
