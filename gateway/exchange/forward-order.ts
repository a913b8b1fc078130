// From a judged request to what the upstream shall receive: one path, one version (VER-9).
// The last step of the pipeline; the forwarder carries it out and decides nothing again.
import type { ApiPlan, VersionRules } from '../plan/plan.ts';
import { type Directive, Fault } from './directive.ts';

/**
 * `tail` is what follows the API's base, `search` the raw query with its `?`; both go upstream byte for byte (ORD-2).
 * @throws Fault `internal` when the version has no upstream, which a checked plan gives only to versions that have ended
 */
export function forwardOrder(api: ApiPlan, version: VersionRules, tail: string, search: string): Directive {
  const { upstream, label } = version;
  if (upstream === undefined) {
    throw new Fault('internal', { cause: new Error(`${api.name} ${label} is served without an upstream`) });
  }
  const path = upstream.path + tail;
  return {
    kind: 'forward',
    forward: {
      upstream,
      target: (path === '' ? '/' : path) + search,
      label,
      removeHeaders: api.versionHeaders,
    },
  };
}
