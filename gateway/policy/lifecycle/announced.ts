// The port of announcements that were sent, shared by all gateways of a store: claimed before sending, kept after it.

/** `held`: another gateway may be sending it now. `kept`: it was sent. */
export type AnnouncementClaim =
  | { readonly state: 'claimed' }
  | { readonly state: 'held' }
  | { readonly state: 'kept'; readonly text: string };

/** Rejects with `StoreUnavailable` when the store does not answer in time. */
export interface AnnouncedStore {
  /** The text kept for each id, in the given order; undefined for an id without one. */
  readonly find: (ids: readonly string[]) => Promise<readonly (string | undefined)[]>;
  /**
   * One of several concurrent callers gets the claim, until it keeps or releases it or `leaseMs` of real time pass: a
   * process that was killed blocks the others for that long only. The owner may claim again.
   */
  readonly claim: (id: string, owner: string, leaseMs: number) => Promise<AnnouncementClaim>;
  /** Keeps `text` for good unless a text is kept already, claimed or not. Returns the kept text. */
  readonly keep: (id: string, text: string) => Promise<string>;
  /** Releases a claim of `owner` that was not kept. */
  readonly release: (id: string, owner: string) => Promise<void>;
}
