// Looks up the current policies by name and by route, for comparisons with older ones.
import type { MaybePromise } from '../../policy/contract.ts';
import type { PolicyView } from '../../sections/view.ts';
import { type Claims, claimsOf } from '../rules/together.ts';

export interface Today {
  /** That of an API by its name. */
  readonly find: (api: string) => MaybePromise<PolicyView | undefined>;
  /** The file in which an API is described. */
  readonly fileOf: (api: string) => string | undefined;
  /** Where an API answers. */
  readonly placesOf: (api: string) => readonly string[];
  /** The APIs that answer at any of these places. */
  readonly holdersOf: (places: readonly string[]) => readonly string[];
  /** The API with the nearest place around this one: it gets the requests of a place that no API has. */
  readonly around: (place: string) => string | undefined;
  /** Whether an API that is not found has vanished. */
  readonly complete: boolean;
  /** Origin of the gateway, where APIs are that name no host. */
  readonly public: string;
}

/** Where the origin is not known both sides have the same. */
const ANY_ORIGIN = 'https://public.invalid';

export interface TodayOptions {
  /** Whether these are all policies there are. */
  readonly complete: boolean;
  readonly public: string | undefined;
}

/** A file without a name may be the very one that is missed, so that none is then called vanished. */
export function todayOf(
  claims: readonly Claims[],
  find: Today['find'],
  { complete, public: origin = ANY_ORIGIN }: TodayOptions,
): Today {
  const byName = new Map<string | undefined, Claims>();
  const byPlace = new Map<string, string>();
  for (const claimed of claims) {
    const { api } = claimed;
    if (byName.has(api)) continue;
    byName.set(api, claimed);
    if (api !== undefined) for (const place of placesIn(claimed)) byPlace.set(place, api);
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

export function todayOfViews(views: readonly PolicyView[], options: TodayOptions): Today {
  const byName = new Map<string | undefined, PolicyView>();
  for (const view of views) if (!byName.has(view.parts.api)) byName.set(view.parts.api, view);
  const claims = views.map((view) => claimsOf(view, options.public ?? ANY_ORIGIN));
  return todayOf(claims, (api) => byName.get(api), options);
}

/** Of an older file. */
export function placesOfView(view: PolicyView, today: Pick<Today, 'public'>): readonly string[] {
  return placesIn(claimsOf(view, today.public));
}

/** Whether a place is one of `places` or below one. */
export function isWithin(place: string, places: readonly string[]): boolean {
  return places.some((outer) => `${place}/`.startsWith(`${outer.replace(/\/$/, '')}/`));
}

/** Hosts and paths, one key for each pair. */
export function placesIn(claims: Claims | undefined): readonly string[] {
  return claims?.routes.flatMap(({ keys }) => keys) ?? [];
}
