// One upstream of a policy file with its defaults filled in.
// Part of compiling one version; the forwarder takes what comes out as it is.
import type { Label } from '../../policy/versioning/resolution.ts';
import type { UpstreamFile } from '../grammar/policy-grammar.ts';
import type { Timeouts, UpstreamPlan } from '../plan.ts';
import { upstreamPath } from '../upstream-places.ts';
import { compileConnectionRules } from './connection-rules.ts';
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
  /** Lower-case names of the fields that no upstream of the API gets as a client sent them. */
  readonly withheld: readonly string[];
}

export function compileUpstream(file: UpstreamFile, context: UpstreamContext): UpstreamPlan {
  const version = versionTold(file, context);
  const { identity_headers: told } = file;
  return {
    name: context.name,
    targets: file.targets.map((origin) => ({ origin })),
    path: upstreamPath(file, context.base, context.label),
    ...version,
    withheld: new Set([
      ...context.withheld,
      ...(version.versionHeader === undefined ? [] : [version.versionHeader.toLowerCase()]),
      ...(file.authorization === 'strip' ? ['authorization'] : []),
    ]),
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
