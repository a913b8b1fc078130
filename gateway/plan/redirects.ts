// Where a retired version's redirect ends: chains collapsed, cycles found (RET-4).
// Works on what is well formed of the versions of one API, for checks and for compiling alike.
import type { EpochMs } from '../policy/contract.ts';
import type { VersionParts } from './policy-grammar.ts';

export type RedirectEnd =
  | { readonly kind: 'ends'; readonly at: string }
  | { readonly kind: 'cycle' }
  /** Leads to a version that is gone at `now`. */
  | { readonly kind: 'gone'; readonly at: string }
  | { readonly kind: 'undeclared' };

/** The sunset in force: the last extension's, or the one first published. */
export function effectiveSunset(version: VersionParts): EpochMs | undefined {
  return version.extended?.at(-1)?.to ?? version.sunset;
}

export function hasSunset(version: VersionParts, now: EpochMs): boolean {
  return now >= (effectiveSunset(version) ?? Number.POSITIVE_INFINITY);
}

/** Follows redirects from `label`; those through versions still served at `now` end there. */
export function redirectEnd(
  label: string,
  versions: ReadonlyMap<string, VersionParts>,
  now: EpochMs,
): RedirectEnd {
  const seen = new Set([label]);
  let end: string | undefined;
  // The whole chain is walked, so that a cycle is found before its last version retires.
  for (let at = redirectOf(versions.get(label)); at !== undefined; at = redirectOf(versions.get(at))) {
    if (seen.has(at)) return { kind: 'cycle' };
    seen.add(at);
    const target = versions.get(at);
    if (target === undefined) return { kind: 'undeclared' };
    if (end !== undefined) continue;
    if (!hasSunset(target, now)) end = at;
    else if (redirectOf(target) === undefined) return { kind: 'gone', at };
  }
  return end === undefined ? { kind: 'undeclared' } : { kind: 'ends', at: end };
}

/** The version that `after: { redirect }` names. */
export function redirectOf(version: VersionParts | undefined): string | undefined {
  return typeof version?.after === 'object' ? version.after.redirect : undefined;
}
