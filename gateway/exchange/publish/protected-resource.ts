// Protected-resource metadata (RFC 9728): trusted issuers and scopes, for each API and for the gateway.
import type { ApiPlan, GatewayPlan } from '../../plan/plan.ts';
import { PROTECTED_RESOURCE } from '../../plan/routes/reserved-paths.ts';
import type { IdentifiedRule } from '../../policy/authentication/access.ts';
import type { RequestView } from '../request-view.ts';
import { resourceOf } from './places.ts';
import { type Publication, page } from './publication.ts';

/** Undefined if the API accepts no tokens. */
export function metadataUrlOf(plan: GatewayPlan, api: ApiPlan): string | undefined {
  if (issuersOf([api]).length === 0) return undefined;
  const { origin, pathname } = new URL(resourceOf(plan, api));
  return origin + PROTECTED_RESOURCE + withoutSlash(pathname);
}

/** Undefined for other paths. `absent` if the path has no metadata. */
export function protectedResourcePage(
  plan: GatewayPlan,
  view: RequestView,
): (() => Publication) | 'absent' | undefined {
  const { path } = view;
  if (path !== PROTECTED_RESOURCE && !path.startsWith(`${PROTECTED_RESOURCE}/`)) return undefined;
  const resourcePath = path.slice(PROTECTED_RESOURCE.length);
  const apis = resourcePath === '' ? plan.apis : apisAt(plan, resourcePath, view.host);
  const [first] = apis;
  const issuers = issuersOf(apis);
  if (first === undefined || issuers.length === 0) return 'absent';
  const document = {
    resource: resourcePath === '' ? plan.public : resourceOf(plan, first),
    authorization_servers: issuers,
    ...someScopes(apis),
    bearer_methods_supported: ['header'],
  };
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  return () => page(JSON.stringify(document), headers, view.headers, Number.POSITIVE_INFINITY);
}

/** The API on this host, else the first one: APIs on different hosts may share a path. */
function apisAt(plan: GatewayPlan, path: string, host: string): readonly ApiPlan[] {
  const there = plan.apis.filter((api) => withoutSlash(new URL(resourceOf(plan, api)).pathname) === path);
  const here = there.filter((api) => api.hosts.includes(host));
  return here.length > 0 ? here.slice(0, 1) : there.slice(0, 1);
}

function withoutSlash(text: string): string {
  return text.replace(/\/$/, '');
}

function issuersOf(apis: readonly ApiPlan[]): readonly string[] {
  const schemes = rulesOf(apis).flatMap((rule) => rule.schemes);
  return [...new Set(schemes.flatMap((each) => (each.scheme === 'Bearer' ? each.issuers : [])))];
}

/** RFC 9728 §3.2: an empty array must be omitted. */
function someScopes(apis: readonly ApiPlan[]): { readonly scopes_supported?: readonly string[] } {
  const scopes = rulesOf(apis).flatMap(({ scopes: { read = [], write = [] } }) => [...read, ...write]);
  return scopes.length === 0 ? {} : { scopes_supported: [...new Set(scopes)].sort() };
}

function rulesOf(apis: readonly ApiPlan[]): readonly IdentifiedRule[] {
  return apis.flatMap(({ access, versions }) => {
    const parts = [...versions.values()].flatMap((version) => [version, ...(version.operations?.list ?? [])]);
    return [access, ...parts.map((part) => part.access)].filter((rule) => rule.kind === 'identified');
  });
}
