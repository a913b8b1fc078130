// Looks up the current policies by name and by route, for comparisons with older ones.
import type { MaybePromise } from '../../policy/contract.ts';
import type { PolicyView } from '../../sections/view.ts';
import { outlineOf, type PolicyOutline } from '../rules/together.ts';

export interface CurrentPolicies {
  readonly find: (api: string) => MaybePromise<PolicyView | undefined>;
  readonly fileOf: (api: string) => string | undefined;
  readonly placesOf: (api: string) => readonly string[];
  readonly holdersOf: (places: readonly string[]) => readonly string[];
  /** The API with the longest path around this place. It gets the requests of a place without an API. */
  readonly around: (place: string) => string | undefined;
  /** Whether an API that is not found was removed. */
  readonly complete: boolean;
  /** Origin of the gateway: the default host of APIs. */
  readonly public: string;
}

/** If the origin is unknown, both sides use this one. */
const ANY_ORIGIN = 'https://public.invalid';

export interface CurrentOptions {
  readonly complete: boolean;
  readonly public: string | undefined;
}

/** With a nameless file, no API counts as removed, since that file may describe it. */
export function currentPoliciesOf(
  outline: readonly PolicyOutline[],
  find: CurrentPolicies['find'],
  { complete, public: origin = ANY_ORIGIN }: CurrentOptions,
): CurrentPolicies {
  const byName = new Map<string | undefined, PolicyOutline>();
  const byPlace = new Map<string, string>();
  for (const outlined of outline) {
    const { api } = outlined;
    if (byName.has(api)) continue;
    byName.set(api, outlined);
    if (api !== undefined) for (const place of placesIn(outlined)) byPlace.set(place, api);
  }
  return {
    find,
    fileOf: (api) => byName.get(api)?.file,
    placesOf: (api) => placesIn(byName.get(api)),
    holdersOf: (places) => [...new Set(places.flatMap((place) => byPlace.get(place) ?? []))],
    around: (place) => {
      for (let end = place.lastIndexOf('/'); end >= 0; end = place.lastIndexOf('/', end - 1)) {
        const api = byPlace.get(place.slice(0, end)) ?? byPlace.get(place.slice(0, end + 1));
        if (api !== undefined) return api;
      }
      return undefined;
    },
    complete: complete && !byName.has(undefined),
    public: origin,
  };
}

export function currentPoliciesOfViews(
  views: readonly PolicyView[],
  options: CurrentOptions,
): CurrentPolicies {
  const byName = new Map<string | undefined, PolicyView>();
  for (const view of views) if (!byName.has(view.parts.api)) byName.set(view.parts.api, view);
  const outline = views.map((view) => outlineOf(view, options.public ?? ANY_ORIGIN));
  return currentPoliciesOf(outline, (api) => byName.get(api), options);
}

export function placesOfView(view: PolicyView, today: Pick<CurrentPolicies, 'public'>): readonly string[] {
  return placesIn(outlineOf(view, today.public));
}

/** Whether a place equals one of `places` or is below it. */
export function isWithin(place: string, places: readonly string[]): boolean {
  return places.some((outer) => `${place}/`.startsWith(`${outer.replace(/\/$/, '')}/`));
}

/** Hosts and paths, one key per pair. */
export function placesIn(outline: PolicyOutline | undefined): readonly string[] {
  return outline?.routes.flatMap(({ keys }) => keys) ?? [];
}
