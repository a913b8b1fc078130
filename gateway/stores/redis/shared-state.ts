// What all gateways on one Redis share and keep: pins, API keys, overrides, idempotency keys, published files, ledger, announcements.
import { randomUUID } from 'node:crypto';
import { StoreUnavailable } from '../../policy/contract.ts';
import type { Override, OverrideStore } from '../../policy/lifecycle/override.ts';
import { createIdempotencyStore } from '../idempotency-records.ts';
import { createKeyCache, type KeyTexts } from '../key-cache.ts';
import { inOrder, readOverrides, writeOverride } from '../override-text.ts';
import { createPinCache } from '../pin-cache.ts';
import { createPinRecords, type PinTexts } from '../pin-records.ts';
import { openRedisPorts } from '../ports.ts';
import type { LastingStores } from '../stores.ts';
import type { RedisConnection } from './connect.ts';
import type { LastKnownFile } from './last-known.ts';
import {
  CHANGES_KEPT,
  type Changes,
  createRedisClaimTexts,
  defineStateScripts,
  isEarlier,
  KEYS,
  readChanges,
  type StateScripts,
  textsOf,
} from './state-scripts.ts';

export interface SharedState extends LastingStores {
  /**
   * Applies changes of other gateways: forgets changed pins and reads the overrides again. Never rejects: an unavailable
   * store changes nothing. One read at a time; concurrent callers share it.
   */
  readonly refresh: () => Promise<void>;
}

/**
 * Resolves after the first read of the store, successful or not. `onFault` gets unreadable records. Until the first successful
 * read the state is that of `lastKnown`.
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
  /** What `overrides` was read from; undefined where this gateway has changed them itself. */
  let writtenText: string | undefined;
  /** How often this gateway has changed an override: a look that was on its way meanwhile is the older one. */
  let changed = 0;
  let seen = '';
  /** The name of the data that was seen. */
  let origin: string | undefined;
  let running: Promise<void> | undefined;
  let remembered: { readonly origin?: string; readonly overrides?: readonly Override[] } = {};

  const takeOver = (texts: readonly string[]): void => {
    const now = texts.toSorted().join('\n');
    if (now === writtenText) return;
    writtenText = now;
    overrides = readOverrides(texts, onFault);
  };

  /**
   * Emptied, put back to an earlier day, or without what a failover lost: what gateways know is then more than what the
   * store knows. A stream is trimmed from its beginning: where an older entry is there, the one last seen was lost,
   * whatever others have written since.
   */
  const hasLostItsPast = ({ data }: Changes): boolean =>
    origin !== undefined && data !== undefined && (data.origin !== origin || isEarlier(data.oldest, seen));

  /** A lost store changes nothing: a pause goes on until its end, or until someone ends it. */
  const restore = async (): Promise<readonly string[]> => {
    const known = overrides;
    const texts = known.flatMap((override) => [override.id, writeOverride(override)]);
    const reply = await scripts.restoreOverrides(KEYS.overrides, KEYS.changes, CHANGES_KEPT, ...texts);
    onFault(new Error(`the store has lost what it knew; overrides written back: ${known.length}`));
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
    const texts = hasLostItsPast(changes) ? await restore() : changes.overrides;
    if (changed !== before) return readStore();
    if (texts !== undefined) takeOver(texts);
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

  /** What stands in the store beside it is for the next look to take over: it may have lost its past by now. */
  const changeOverride = async (
    id: string,
    text: string,
    after: () => readonly Override[],
  ): Promise<boolean> => {
    // A store that is empty gets back what is to be changed.
    await refresh();
    const done = (await scripts.changeOverride(KEYS.overrides, KEYS.changes, id, text, CHANGES_KEPT)) === 1;
    if (!done) return false;
    overrides = after();
    writtenText = undefined;
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
    takeOver(known.overrides);
    origin = known.origin;
    remembered = { origin, overrides };
  }
  await refresh();
  return {
    pins,
    keys,
    idempotency: createIdempotencyStore(createRedisClaimTexts(connection), onFault),
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
