// Records in the store which notices were sent, with a cache of the final marks.
import { createHash } from 'node:crypto';
import { DAY_MS, type EpochMs } from '../policy/contract.ts';
import type { AnnouncedStore } from '../policy/lifecycle/announcement-store.ts';

export interface Marks {
  /** The first text stored at `id`, which is `text` for the first caller. */
  readonly once: (id: string, text: string) => Promise<string>;
  readonly find: (ids: readonly string[]) => Promise<readonly (string | undefined)[]>;
  /** Whether this process holds the lease on it. */
  readonly claim: (id: string) => Promise<boolean>;
  readonly done: (id: string, text: string) => Promise<void>;
  readonly release: (id: string) => Promise<void>;
}

export const mailMark = (notice: string, consumer: string): string => `${notice} mail ${digestOf(consumer)}`;
/** Per address, because another address may accept the mail. */
export const refusedMark = (notice: string, consumer: string, to: string): string =>
  `${mailMark(notice, consumer)} refused ${digestOf(to)}`;
export const eventMark = (notice: string): string => `${notice} event`;
/** Marks a step of a countdown that a later step has replaced: it is no longer sent. */
export const overMark = (notice: string): string => `${notice} over`;
export const beginMark = (api: string): string => `${api} first look`;

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** Longer than any mail takes. After it another gateway takes over from a killed one. */
const LEASE_MS = 2 * 60_000;
const MAX_KNOWN = 200_000;

export function createMarks(
  store: AnnouncedStore,
  { owner, leaseMs = LEASE_MS }: { readonly owner: string; readonly leaseMs?: number | undefined },
): Marks {
  const known = new Map<string, string>();
  const remember = (id: string, text: string): string => {
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(id, text);
    return text;
  };
  return {
    once: async (id, text) => known.get(id) ?? remember(id, await store.keep(id, text)),
    find: async (ids) => {
      const unknown = [...new Set(ids)].filter((id) => !known.has(id));
      const texts = await store.find(unknown);
      const found = new Map(unknown.map((id, index) => [id, texts[index]]));
      return ids.map((id) => known.get(id) ?? found.get(id));
    },
    claim: async (id) => {
      if (known.has(id)) return false;
      const claim = await store.claim(id, owner, leaseMs);
      if (claim.state === 'kept') remember(id, claim.text);
      return claim.state === 'claimed';
    },
    done: async (id, text) => void remember(id, await store.keep(id, text)),
    release: (id) => store.release(id, owner),
  };
}

/** Notices older than this at the first check of an API are not sent. */
const BEFORE_FIRST_CHECK_MS = 30 * DAY_MS;
/** A consumer that starts to call within this time still gets the notice. */
const OPEN_MS = 30 * DAY_MS;

export function isBeforeFirstCheck(at: EpochMs, firstCheck: string): boolean {
  return at < Number(firstCheck) - BEFORE_FIRST_CHECK_MS;
}

/** `mark`: when the notice was first announced. `from`: the first instant at which it has readers. */
export function isOpen(mark: string, from: EpochMs, now: EpochMs): boolean {
  return now < Math.max(Number(mark), from) + OPEN_MS;
}
