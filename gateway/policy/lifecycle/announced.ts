// What has been announced, as all gateways of a store know it: claimed before it is sent, kept once it was.
// The port is owned here; stores/ keep it, announce/ asks.

/** `held`: by another that may be at it now. `kept`: it is done. */
export type AnnouncementClaim =
  | { readonly state: 'claimed' }
  | { readonly state: 'held' }
  | { readonly state: 'kept'; readonly text: string };

/** Rejects with `StoreUnavailable` when the store does not answer in time. */
export interface AnnouncedStore {
  /** What is kept at each id, in the order asked; undefined where nothing is. */
  readonly find: (ids: readonly string[]) => Promise<readonly (string | undefined)[]>;
  /**
   * Of all who ask at once one has it, until it says so or `leaseMs` of real time have passed: whoever was killed in the
   * middle keeps nobody from it for good. Its owner has it anew.
   */
  readonly claim: (id: string, owner: string, leaseMs: number) => Promise<AnnouncementClaim>;
  /** Keeps `text` for good unless something is kept there, claimed or not; what stands there then. */
  readonly keep: (id: string, text: string) => Promise<string>;
  /** Lets go of what `owner` has claimed and not kept. */
  readonly release: (id: string, owner: string) => Promise<void>;
}
