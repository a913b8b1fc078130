// Compiles hosts, paths, path rules and location mapping of an API.
import { hostKey, originOn } from '../../plan/grammar/addresses.ts';
import type { ApiPlan } from '../../plan/plan.ts';
import type { Path } from '../../plan/read/document.ts';
import type { Settings } from '../../plan/settings.ts';
import { PATH_PRESETS, UNKNOWN_SERVICE } from '../../policy/paths/presets.ts';
import type { PathRules } from '../../policy/paths/rules.ts';
import type { Label } from '../../policy/versioning/resolution.ts';
import type { PolicyFile, PolicyParts } from '../policy-file.ts';
import { carrier } from '../resolve/compile.ts';
import type { PathsFile } from './grammar.ts';

export function compileRoutes(
  file: PolicyFile,
  settings: Pick<Settings, 'paths' | 'public'>,
): Pick<ApiPlan, 'hosts' | 'paths' | 'base' | 'pathRules' | 'locations'> {
  return {
    hosts: hostsOf(file, settings.public),
    paths: pathsOf(file).map(({ path }) => path),
    base: file.base,
    pathRules: pathRulesOf(file.paths ?? settings.paths),
    locations: file.locations ?? 'map',
  };
}

/** The API's own hosts or that of `public`, and the host that carries the version. Lower case, without ports. */
export function hostsOf(parts: PolicyParts, publicOrigin: string | undefined): readonly string[] {
  const { host = publicOrigin === undefined ? [] : [new URL(publicOrigin).hostname] } = parts;
  const versioned = parts.resolve?.flatMap(({ subdomain }) => subdomain ?? []) ?? [];
  return [...(typeof host === 'string' ? [host] : host), ...versioned];
}

/** The path templates of an API with their paths in the file. */
export function pathsOf(parts: PolicyParts): readonly { readonly path: string; readonly at: Path }[] {
  const resolve = parts.resolve ?? [];
  const versioned = resolve.flatMap(({ path }, index) =>
    path === undefined ? [] : [{ path, at: ['resolve', index, 'path'] }],
  );
  // If only a path carries the version, no request at the base could name one, so that the base is no route (STAT-1).
  const answersAtBase = parts.versions === 'none' || resolve.some(({ path }) => path === undefined);
  return parts.base === undefined || !answersAtBase
    ? versioned
    : [...versioned, { path: parts.base, at: ['base'] }];
}

/**
 * The URL of a version without the tail: its path if the path carries versions, otherwise its host or the base. An absolute
 * URL if the public host does not serve it.
 */
export function placeOf(file: PolicyFile, publicOrigin: string): (label: Label) => string {
  const template = carrier(file, 'path');
  const hosts = hostsOf(file, publicOrigin);
  const isPublic = hosts.map(hostKey).includes(hostKey(new URL(publicOrigin).hostname));
  const host =
    (template === undefined ? carrier(file, 'subdomain') : undefined) ?? (isPublic ? undefined : hosts[0]);
  const origin = host === undefined ? '' : originOn(publicOrigin, host);
  const place = `${origin}${template ?? file.base}`.replace(/\/$/, '');
  return (label) => place.replace('{version}', label);
}

/** Without a section every reading is possible. */
export function pathRulesOf(paths: PathsFile | undefined): PathRules {
  if (paths === undefined) return UNKNOWN_SERVICE;
  if (typeof paths === 'string') return PATH_PRESETS[paths];
  const base = paths.preset === undefined ? UNKNOWN_SERVICE : PATH_PRESETS[paths.preset];
  return {
    case: paths.case ?? base.case,
    parameters: paths.parameters ?? base.parameters,
    suffix: paths.suffix ?? base.suffix,
    trailingSlash: paths.trailing_slash ?? base.trailingSlash,
    encodedSlash: paths.encoded_slash ?? base.encodedSlash,
    reserved: base.reserved,
    proxy: base.proxy,
  };
}
