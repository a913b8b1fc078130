// The dates in force of a version, where it leads, and the chain of its redirects as time passes (RET-4).
import type { EpochMs } from '../../policy/contract.ts';
import type { VersionParts } from '../policy-file.ts';

/** One version of a chain, open as a target until its own sunset; `Infinity` when it has none. */
export interface RedirectHop {
  readonly label: string;
  readonly until: EpochMs;
}

export type RedirectChain =
  /** Nearest first; empty when the version is not redirected. */
  { readonly kind: 'hops'; readonly hops: readonly RedirectHop[] } | { readonly kind: 'cycle' };

/** The sunset in force: the last extension's, or the one first published. */
export function effectiveSunset(version: VersionParts): EpochMs | undefined {
  return version.extended?.at(-1)?.to ?? version.sunset;
}

export interface Extension {
  readonly index: number;
  readonly to: EpochMs;
  readonly announced: EpochMs;
  /** The sunset it moves: the one first published, or that of the extension before. */
  readonly moves: EpochMs;
}

/** None while the sunset they move is unknown. */
export function extensionsOf({ sunset, extended = [] }: VersionParts): readonly Extension[] {
  if (sunset === undefined || extended === undefined) return [];
  return extended.map(({ to, announced }, index) => ({
    index,
    to,
    announced,
    moves: extended[index - 1]?.to ?? sunset,
  }));
}

/** An operation may begin and end earlier than its version, not later. */
export function earlier(own: EpochMs | undefined, ofVersion: EpochMs | undefined): EpochMs | undefined {
  return own === undefined || ofVersion === undefined ? (own ?? ofVersion) : Math.min(own, ofVersion);
}

export function hasSunset(version: VersionParts, now: EpochMs): boolean {
  return now >= (effectiveSunset(version) ?? Number.POSITIVE_INFINITY);
}

/** Follows the redirects from `label` to the end, or to the first version that is not declared. */
export function redirectChain(label: string, versions: ReadonlyMap<string, VersionParts>): RedirectChain {
  const hops: RedirectHop[] = [];
  const seen = new Set([label]);
  for (let at = redirectOf(versions.get(label)); at !== undefined; at = redirectOf(versions.get(at))) {
    if (seen.has(at)) return { kind: 'cycle' };
    seen.add(at);
    const target = versions.get(at);
    if (target === undefined) break;
    hops.push({ label: at, until: effectiveSunset(target) ?? Number.POSITIVE_INFINITY });
  }
  return { kind: 'hops', hops };
}

/** The version that `after: { redirect }` names. */
export function redirectOf(version: VersionParts | undefined): string | undefined {
  return typeof version?.after === 'object' ? version.after.redirect : undefined;
}

/** Where callers of a version go next: where it redirects to, unless another version is named (RET-8). */
export function successorOf(version: VersionParts | undefined): string | undefined {
  return version?.successor ?? redirectOf(version);
}
