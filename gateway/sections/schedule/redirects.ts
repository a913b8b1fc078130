// Computes effective sunsets, successors and redirect chains of versions (RET-4).
import type { EpochMs } from '../../policy/contract.ts';
import type { VersionParts } from '../policy-file.ts';

/** A version of a chain. It is a target until its own sunset, or `Infinity`. */
export interface RedirectHop {
  readonly label: string;
  readonly until: EpochMs;
}

export type RedirectChain =
  /** Nearest first. Empty without a redirect. */
  { readonly kind: 'hops'; readonly hops: readonly RedirectHop[] } | { readonly kind: 'cycle' };

/** The last extension, or the sunset as first published. */
export function effectiveSunset(version: VersionParts): EpochMs | undefined {
  return version.extended?.at(-1)?.to ?? version.sunset;
}

export interface Extension {
  readonly index: number;
  readonly to: EpochMs;
  readonly announced: EpochMs;
  /** The sunset that it moves: the first published one or the extension before. */
  readonly moves: EpochMs;
}

/** Empty if the sunset is unknown. */
export function extensionsOf({ sunset, extended = [] }: VersionParts): readonly Extension[] {
  if (sunset === undefined || extended === undefined) return [];
  return extended.map(({ to, announced }, index) => ({
    index,
    to,
    announced,
    moves: extended[index - 1]?.to ?? sunset,
  }));
}

/** An operation may end earlier than its version, not later. */
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

export function redirectOf(version: VersionParts | undefined): string | undefined {
  return typeof version?.after === 'object' ? version.after.redirect : undefined;
}

/** RET-8: the named successor, otherwise the redirect target. */
export function successorOf(version: VersionParts | undefined): string | undefined {
  return version?.successor ?? redirectOf(version);
}
