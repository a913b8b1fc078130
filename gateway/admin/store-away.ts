// A write that the store does not answer for: refused, and told in the audit like any other, since it may have happened.
// Used by the resources of the admin API around what they store.
import { StoreUnavailable } from '../policy/contract.ts';
import { storeAway } from './answers.ts';
import type { Written } from './route.ts';

/** What `store` makes of it; ERR-5 with `audit`, which is what was asked for, while the store is away. */
export async function orStoreAway(audit: Written['audit'], store: () => Promise<Written>): Promise<Written> {
  try {
    return await store();
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return { answer: storeAway({ wrote: true }), audit };
  }
}
