// One upstream of a policy file with its defaults filled in.
// Part of compiling one version; the forwarder takes what comes out as it is.
import type { Timeouts, UpstreamPlan } from './plan.ts';
import type { UpstreamFile } from './policy-grammar.ts';

/** Milliseconds. */
const DEFAULT_TIMEOUTS: Timeouts = { connect: 1_000, headers: 5_000, idle: 30_000, total: 60_000 };
const DEFAULT_HEADER = 'API-Version';

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
  return file.version_as?.header ?? DEFAULT_HEADER;
}

function compileTimeouts(timeout: UpstreamFile['timeout']): Timeouts {
  const written = typeof timeout === 'number' ? { headers: timeout } : (timeout ?? {});
  return {
    connect: written.connect ?? DEFAULT_TIMEOUTS.connect,
    headers: written.headers ?? DEFAULT_TIMEOUTS.headers,
    idle: written.idle ?? DEFAULT_TIMEOUTS.idle,
    total: written.total ?? DEFAULT_TIMEOUTS.total,
  };
}
