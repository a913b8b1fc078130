// The store port of sent announcements. It lets one of several gateways send each announcement once.

/** `held`: another gateway may be sending it now. `kept`: it was sent. */
export type AnnouncementClaim =
  | { readonly state: 'claimed' }
  | { readonly state: 'held' }
  | { readonly state: 'kept'; readonly text: string };

/** Rejects with `StoreUnavailable` if the store does not answer in time. */
export interface AnnouncedStore {
  /** The stored text of each id, in the given order. Undefined for an id without one. */
  readonly find: (ids: readonly string[]) => Promise<readonly (string | undefined)[]>;
  /**
   * One of several concurrent callers gets the claim. It lasts until the owner keeps or releases it, or for `leaseMs` of
   * real time, so that a killed process blocks the others only that long. The owner may claim again.
   */
  readonly claim: (id: string, owner: string, leaseMs: number) => Promise<AnnouncementClaim>;
  /** Stores `text` permanently, claimed or not, unless a text is stored already. Returns the stored text. */
  readonly keep: (id: string, text: string) => Promise<string>;
  readonly release: (id: string, owner: string) => Promise<void>;
}
