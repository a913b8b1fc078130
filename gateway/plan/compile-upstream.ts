// One upstream of a policy file with its defaults filled in.
// Part of compiling one version; the forwarder takes what comes out as it is.
import type { Timeouts, UpstreamPlan } from './plan.ts';
import type { UpstreamFile } from './policy-grammar.ts';

/** Milliseconds. */
export const DEFAULT_TIMEOUTS: Timeouts = { connect: 1_000, headers: 5_000, idle: 30_000, total: 60_000 };
/** Tells an upstream the version unless it wants another header or none. */
export const DEFAULT_VERSION_HEADER = 'API-Version';

export interface UpstreamContext {
  /** Alias shown to clients. */
  readonly name: string;
  readonly base: string;
  readonly unversioned: boolean;
}

export function compileUpstream(file: UpstreamFile, context: UpstreamContext): UpstreamPlan {
  const path = file.path ?? context.base;
  return {
    name: context.name,
    targets: file.targets.map((origin) => ({ origin })),
    path: path === '/' ? '' : path,
    versionHeader: versionHeader(file, context),
    authorization: file.authorization ?? 'keep',
    timeouts: compileTimeouts(file.timeout),
  };
}

function versionHeader(file: UpstreamFile, context: UpstreamContext): string | undefined {
  if (file.version_as === 'none' || context.unversioned) return undefined;
  return file.version_as?.header ?? DEFAULT_VERSION_HEADER;
}

function compileTimeouts(timeout: UpstreamFile['timeout']): Timeouts {
  const written = typeof timeout === 'number' ? { headers: timeout } : (timeout ?? {});
  const { connect, headers, idle, total } = DEFAULT_TIMEOUTS;
  return {
    connect: written.connect ?? connect,
    headers: written.headers ?? headers,
    idle: written.idle ?? idle,
    total: written.total ?? total,
  };
}
