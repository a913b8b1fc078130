// Checks policy files together: unique API names, unique hosts and paths, access to shared upstream paths.

import { hostsOf, pathsOf } from '../../sections/routes/compile.ts';
import { RULES, type RuleSeverity } from '../../sections/rules/grammar.ts';
import type { PolicyView } from '../../sections/view.ts';
import { hostKey } from '../grammar/addresses.ts';
import type { Problem } from '../problems.ts';
import type { Path, SourceDocument } from '../read/document.ts';
import { keysOf } from '../read/values.ts';
import { addressesOf, outerPlaces, placesIn } from '../upstreams/upstream-places.ts';

/** The facts of a file for these checks, without its document, because thousands are kept between reloads. */
export interface PolicyOutline {
  readonly file: string;
  /** Undefined if the file has no name, or may be two files in one. */
  readonly api: string | undefined;
  readonly labels: readonly string[];
  readonly routes: readonly { readonly at: Path; readonly keys: readonly string[] }[];
  /** Origin and path of each target. */
  readonly places: ReadonlySet<string>;
  /** Canonical text of its access rule. */
  readonly access: string;
  readonly nestedAccess: RuleSeverity | 'off';
}

export interface OutlinedPolicy {
  readonly outline: PolicyOutline;
  /** Called only if two files conflict. */
  readonly document: () => SourceDocument;
}

export function outlineOf(
  { document, parts, labels }: PolicyView,
  publicOrigin: string | undefined,
): PolicyOutline {
  const hosts = hostsOf(parts, publicOrigin).map(hostKey);
  const routes = pathsOf(parts).map(({ path, at }) => ({ at, keys: hosts.map((host) => `${host} ${path}`) }));
  const nestedAccess = parts.rules?.['nested-access'] ?? RULES['nested-access'].severity;
  const access = JSON.stringify(parts.access ?? null);
  return {
    file: document.file,
    api: document.repeated.size > 0 || endsInName(document) ? undefined : parts.api,
    labels,
    routes,
    places: new Set([...placesIn(parts).values()].flatMap(addressesOf)),
    access,
    nestedAccess,
  };
}

/** A file that was truncated in its `api` may lack the rest of the name. */
function endsInName(document: SourceDocument): boolean {
  return !document.has(['versions']) && keysOf(document.value).at(-1) === 'api';
}

export function checkTogether(outlinedPolicies: readonly OutlinedPolicy[]): readonly Problem[] {
  const problems: Problem[] = [];
  const byName = new Map<string, PolicyOutline>();
  const byRoute = new Map<string, PolicyOutline>();
  for (const { outline, document } of outlinedPolicies) {
    const { api, routes } = outline;
    if (api !== undefined) {
      const other = byName.get(api);
      if (other === undefined) byName.set(api, outline);
      else {
        const written = document();
        const message = `the API ${written.show(['api'], api)} is already described in ${other.file}`;
        problems.push(written.problem(['api'], { rule: 'duplicate', message }));
      }
    }
    for (const { at, keys } of routes) {
      for (const key of keys) {
        const other = byRoute.get(key);
        if (other === undefined) byRoute.set(key, outline);
        else if (other !== outline) {
          const message = `this host and path belong to the API in ${other.file}`;
          problems.push(document().problem(at, { rule: 'duplicate', message }));
          break;
        }
      }
    }
  }
  for (const { outline, document } of outlinedPolicies) {
    for (const { at, keys } of outline.routes) {
      const [taken] = keys.flatMap((key) => versionsAt(key, byRoute));
      if (taken === undefined || taken.of === outline) continue;
      const message = `requests for ${taken.label} of the API in ${taken.of.file} are routed here instead`;
      const hint = 'choose a path without a version of that API as a segment';
      problems.push(document().problem(at, { rule: 'duplicate', message, hint, severity: 'warning' }));
    }
  }
  return [...problems, ...nestedAccess(outlinedPolicies)];
}

/** Two APIs on one service: if it reads a path differently, the outer API may lead into the inner one. */
function nestedAccess(outlinedPolicies: readonly OutlinedPolicy[]): readonly Problem[] {
  const byPlace = new Map<string, PolicyOutline[]>();
  for (const { outline } of outlinedPolicies)
    for (const place of outline.places) byPlace.set(place, [...(byPlace.get(place) ?? []), outline]);
  return outlinedPolicies.flatMap(({ outline, document }) => {
    if (outline.nestedAccess === 'off') return [];
    const outer = [...outline.places]
      .flatMap((place) => outerPlaces(place).flatMap((each) => byPlace.get(each) ?? []))
      .find((each) => each !== outline && each.access !== outline.access);
    if (outer === undefined) return [];
    const message = `callers of the API in ${outer.file} may reach this upstream path under other access rules`;
    const hint =
      'use the same access in both files, or a separate upstream for one of them. If this is intended, write rules: { nested-access: off }';
    const finding = { rule: 'nested-access', message, hint, severity: outline.nestedAccess };
    return [document().problem(['base'], finding)];
  });
}

/** A literal segment wins over `{version}`. Finds the version whose requests this place gets. */
function versionsAt(key: string, byRoute: ReadonlyMap<string, PolicyOutline>) {
  const segments = key.split('/');
  return segments.flatMap((segment, index) => {
    if (!STARTS_LIKE_A_VERSION.test(segment)) return [];
    const of = byRoute.get(segments.with(index, '{version}').join('/'));
    const label = of?.labels.find((each) => each === segment || each === `v${segment}`);
    return of === undefined || label === undefined ? [] : [{ of, label }];
  });
}

const STARTS_LIKE_A_VERSION = /^v?\d/;
