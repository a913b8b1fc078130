// The persistent state that all gateways share on one Redis.
import { randomUUID } from 'node:crypto';
import { StoreUnavailable } from '../../policy/contract.ts';
import type { Override, OverrideStore } from '../../policy/lifecycle/override.ts';
import { createIdempotencyStore } from '../idempotency-records.ts';
import { createKeyCache, type KeyTexts } from '../key-cache.ts';
import { inOrder, readOverrides, writeOverride } from '../override-text.ts';
import { createPinCache } from '../pin-cache.ts';
import { createPinRecords, type PinTexts } from '../pin-records.ts';
import { openRedisPorts } from '../ports.ts';
import type { PersistentStores } from '../stores.ts';
import type { RedisConnection } from './connect.ts';
import type { LastKnownFile } from './last-known.ts';
import {
  CHANGES_KEPT,
  type Changes,
  createRedisIdempotencyTexts,
  defineStateScripts,
  isEarlier,
  KEYS,
  readChanges,
  type StateScripts,
  textsOf,
} from './state-scripts.ts';

export interface SharedState extends PersistentStores {
  /**
   * Applies changes of other gateways: forgets changed pins and keys, and reads the overrides again. Never
   * rejects: if the store is unavailable, nothing changes. Concurrent callers share one read.
   */
  readonly refresh: () => Promise<void>;
}

/**
 * Resolves after the first read of the store, successful or not. Until the first successful read the state is
 * that of `lastKnown`. `onFault` is called for unreadable records.
 */
export async function openSharedState(
  connection: RedisConnection,
  {
    onFault,
    lastKnown,
  }: { readonly onFault: (error: unknown) => void; readonly lastKnown?: LastKnownFile | undefined },
): Promise<SharedState> {
  const scripts = defineStateScripts(connection);
  const pins = createPinCache(createPinRecords(pinTexts(scripts), onFault));
  const keys = createKeyCache(redisKeyTexts(scripts), onFault);
  let overrides: readonly Override[] = [];
  let wasRead = false;
  /** The text from which `overrides` was read; undefined after a change by this gateway. */
  let overridesText: string | undefined;
  /** Counts changes of overrides by this gateway. A read that was sent before the last of them is stale. */
  let changed = 0;
  let seen = '';
  let origin: string | undefined;
  let running: Promise<void> | undefined;
  let remembered: { readonly origin?: string; readonly overrides?: readonly Override[] } = {};

  const applyOverrides = (texts: readonly string[]): void => {
    const now = texts.toSorted().join('\n');
    if (now === overridesText) return;
    overridesText = now;
    overrides = readOverrides(texts, onFault);
  };

  /**
   * True if Redis was emptied, was restored from a backup, or lost writes in a failover. Gateways then know
   * more than the store. Trimming removes the oldest entries first. If an older entry is there, the last seen
   * entry was lost and not trimmed.
   */
  const hasLostData = ({ data }: Changes): boolean =>
    origin !== undefined && data !== undefined && (data.origin !== origin || isEarlier(data.oldest, seen));

  /** Writes the known overrides back. A pause must last until it ends or an operator ends it. */
  const restore = async (): Promise<readonly string[]> => {
    const known = overrides;
    const texts = known.flatMap((override) => [override.id, writeOverride(override)]);
    const reply = await scripts.restoreOverrides(KEYS.overrides, KEYS.changes, CHANGES_KEPT, ...texts);
    onFault(new Error(`Redis has lost data; overrides written back: ${known.length}`));
    return textsOf(reply);
  };

  const remember = (): void => {
    if (origin === undefined || (overrides === remembered.overrides && origin === remembered.origin)) return;
    remembered = { origin, overrides };
    lastKnown?.write({ origin, overrides: overrides.map(writeOverride) });
  };

  const readStore = async (): Promise<void> => {
    const before = changed;
    const where = [KEYS.changes, KEYS.overrides, KEYS.origin];
    const changes = readChanges(await scripts.readChanges(...where, seen, randomUUID(), origin ?? ''));
    const texts = hasLostData(changes) ? await restore() : changes.overrides;
    if (changed !== before) return readStore();
    if (texts !== undefined) applyOverrides(texts);
    origin = changes.data?.origin ?? origin;
    wasRead = true;
    if (changes.pins === 'all') {
      pins.forgetAll();
      keys.forgetAll();
    } else for (const key of changes.pins) pins.forget(key);
    for (const id of changes.keys) keys.forget(id);
    for (const key of changes.claimed) pins.forgetAbsence(key);
    seen = changes.seen;
    remember();
  };
  const refresh = (): Promise<void> => {
    running ??= readStore()
      .catch((error: unknown) => {
        if (!(error instanceof StoreUnavailable)) onFault(error);
      })
      .finally(() => {
        running = undefined;
      });
    return running;
  };

  const without = (id: string): readonly Override[] => overrides.filter((each) => each.id !== id);

  /**
   * Changes one override in the store and here. False if there was none to remove. Other overrides in the
   * store are left for the next read, because the store may have lost its data.
   */
  const changeOverride = async (
    id: string,
    text: string,
    after: () => readonly Override[],
  ): Promise<boolean> => {
    // If the store was emptied, this writes the overrides back before the change.
    await refresh();
    const done = (await scripts.changeOverride(KEYS.overrides, KEYS.changes, id, text, CHANGES_KEPT)) === 1;
    if (!done) return false;
    overrides = after();
    overridesText = undefined;
    changed += 1;
    remember();
    return true;
  };
  const overrideStore: OverrideStore = {
    current: () => overrides,
    wasRead: () => wasRead,
    put: async (override) => {
      const { id } = override;
      await changeOverride(id, writeOverride(override), () => inOrder([...without(id), override]));
    },
    remove: (id) => changeOverride(id, '', () => without(id)),
  };

  const known = lastKnown?.read();
  if (known !== undefined) {
    applyOverrides(known.overrides);
    origin = known.origin;
    remembered = { origin, overrides };
  }
  await refresh();
  return {
    pins,
    keys,
    idempotency: createIdempotencyStore(createRedisIdempotencyTexts(connection), onFault),
    overrides: overrideStore,
    ...openRedisPorts(connection),
    refresh,
    close: async () => {
      connection.close();
      await running;
      await lastKnown?.settled();
    },
  };
}

function pinTexts({ findPin, claimPin, replacePin }: StateScripts): PinTexts {
  return {
    find: async (key) => {
      const text = await findPin(KEYS.pin(key));
      return text === null ? undefined : String(text);
    },
    claim: async (key, text) => String(await claimPin(KEYS.pin(key), KEYS.changes, text, key, CHANGES_KEPT)),
    replace: async (key, current = '', next = '') =>
      (await replacePin(KEYS.pin(key), KEYS.changes, current, next, key, CHANGES_KEPT)) === 1,
  };
}

function redisKeyTexts({ findKey, allKeys, replaceKey }: StateScripts): KeyTexts {
  return {
    find: async (id) => {
      const text = await findKey(KEYS.keys, id);
      return text === null ? undefined : String(text);
    },
    list: async () => textsOf(await allKeys(KEYS.keys)),
    replace: async (id, current = '', next) =>
      (await replaceKey(KEYS.keys, KEYS.changes, id, current, next, CHANGES_KEPT)) === 1,
  };
}
