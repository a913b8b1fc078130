// From a judged request to what the upstream shall receive: one path, one version (VER-9).
// The last step of the pipeline; the forwarder carries it out and decides nothing again.
import type { ApiPlan, VersionRules } from '../plan/plan.ts';
import { UNVERSIONED } from '../policy/versioning/resolution.ts';
import { type Directive, Fault } from './directive.ts';

const CANONICAL_HEADER: readonly string[] = ['api-version'];
const NOTHING: readonly string[] = [];

/** `tail` is what follows the API's base, `search` the raw query with its `?`; both go upstream byte for byte (ORD-2). */
export function forwardOrder(api: ApiPlan, version: VersionRules, tail: string, search: string): Directive {
  const { upstream } = version;
  if (upstream === undefined) {
    throw new Fault('internal', {
      cause: new Error(`${api.name} ${version.label} is served without an upstream`),
    });
  }
  const path = upstream.path + tail;
  return {
    kind: 'forward',
    forward: {
      upstream,
      target: (path === '' ? '/' : path) + search,
      label: version.label,
      removeHeaders: versionHeaders(api, version),
    },
  };
}

function versionHeaders(api: ApiPlan, version: VersionRules): readonly string[] {
  if (version.label === UNVERSIONED) return NOTHING;
  const { header } = api.resolution;
  return header === undefined || header === 'api-version' ? CANONICAL_HEADER : [...CANONICAL_HEADER, header];
}
