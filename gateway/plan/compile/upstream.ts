// One upstream of a policy file with its defaults filled in.
// Part of compiling one version; the forwarder takes what comes out as it is.
import type { Label } from '../../policy/versioning/resolution.ts';
import { clientField } from '../client-fields.ts';
import type { ConnectionRules, RetryRules } from '../connection-rules.ts';
import type { UpstreamFile } from '../grammar/policy-grammar.ts';
import type { Timeouts, UpstreamPlan } from '../plan.ts';
import { upstreamPath } from '../upstream-places.ts';
import { compileTargetRules } from './target-rules.ts';

/** Milliseconds. */
export const DEFAULT_TIMEOUTS: Timeouts = { connect: 1_000, headers: 5_000, idle: 30_000, total: 60_000 };
/** Tells an upstream the version unless it wants another header or none. */
export const DEFAULT_VERSION_HEADER = 'API-Version';

export interface UpstreamContext {
  /** Alias shown to clients. */
  readonly name: string;
  readonly base: string;
  /** Undefined when the API has no versions. */
  readonly label: Label | undefined;
  /** Names of the fields that no upstream of the API gets as a client sent them. */
  readonly withheld: readonly string[];
}

const DEFAULT_CONNECTIONS: ConnectionRules = { max: 256, queue: 1_024, waitMs: 1_000 };
const DEFAULT_RETRIES: RetryRules = { attempts: 1, budget: 0.2 };

export function compileUpstream(file: UpstreamFile, context: UpstreamContext): UpstreamPlan {
  const version = versionTold(file, context);
  const { identity_headers: told } = file;
  return {
    name: context.name,
    targets: file.targets.map((origin) => ({ origin })),
    path: upstreamPath(file, context.base, context.label),
    ...version,
    withheld: new Set(
      [
        ...context.withheld,
        ...(version.versionHeader === undefined ? [] : [version.versionHeader]),
        ...(file.authorization === 'strip' ? ['authorization'] : []),
      ].map((name) => clientField(name.toLowerCase()).plain),
    ),
    identityHeaders: told && { consumer: told.consumer, scopes: told.scopes },
    timeouts: compileTimeouts(file.timeout),
    ...compileTargetRules(file),
    ...compileConnectionRules(file),
  };
}

function versionTold(
  { version_as: by = { header: DEFAULT_VERSION_HEADER } }: UpstreamFile,
  { label }: UpstreamContext,
): Pick<UpstreamPlan, 'versionHeader' | 'versionQuery'> {
  const told = label === undefined || typeof by === 'string' ? undefined : by;
  return {
    versionHeader: told && 'header' in told ? told.header : undefined,
    versionQuery: told && 'query' in told ? told.query : undefined,
  };
}

/** Milliseconds, each with its default. */
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

/** The texts of certificates and keys stand in `file` in place of their paths by now. */
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
