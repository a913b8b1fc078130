// Reads and writes the stored text of pins. The format is the same in every store.
import { StoreUnavailable } from '../policy/contract.ts';
import { parseLabel } from '../policy/versioning/label.ts';
import type { Pin, PinKey } from '../policy/versioning/pin.ts';
import { faultOnce, isInstant, isStoredObject, storedValue } from './stored-json.ts';

/** Stored texts by key. All calls reject only with `StoreUnavailable`. */
export interface PinTexts {
  readonly find: (key: string) => Promise<string | undefined>;
  /** Stores `text` unless the key has one. Returns the stored text. */
  readonly claim: (key: string, text: string) => Promise<string>;
  /** Replaces `current`. False, with nothing changed, unless `current` is stored. Undefined means no pin. */
  readonly replace: (key: string, current: string | undefined, next: string | undefined) => Promise<boolean>;
}

/** Stored pins by the text of their key. All calls reject only with `StoreUnavailable`. */
export interface PinRecords {
  readonly find: (key: string) => Promise<Pin | undefined>;
  /** Stores `pin` unless the key has one. Returns the stored pin. */
  readonly claim: (key: string, pin: Pin) => Promise<Pin>;
  /** Replaces `current`. False, with nothing changed, unless `current` is stored. Undefined means no pin. */
  readonly replace: (key: string, current: Pin | undefined, next: Pin | undefined) => Promise<boolean>;
}

/** `onFault` is called for the first unreadable pin only. */
export function createPinRecords(texts: PinTexts, onFault: (error: unknown) => void): PinRecords {
  const reportOnce = faultOnce(onFault, 'a stored pin is unreadable; its account counts as not pinned');
  /** True if `text` has replaced an unreadable pin at `key`. */
  const replaceUnreadable = async (key: string, existing: string | undefined, text: string | undefined) =>
    existing !== undefined && readPin(existing) === undefined && texts.replace(key, existing, text);

  return {
    find: async (key) => {
      const text = await texts.find(key);
      const pin = text === undefined ? undefined : readPin(text);
      if (text !== undefined && pin === undefined) reportOnce();
      return pin;
    },
    claim: async (key, pin) => {
      const text = writePin(pin);
      const existing = await texts.claim(key, text);
      const read = readPin(existing);
      if (read !== undefined) return read;
      reportOnce();
      if (await replaceUnreadable(key, existing, text)) return pin;
      // A concurrent call has replaced the unreadable pin.
      const other = readPin(await texts.claim(key, text));
      if (other === undefined) throw new StoreUnavailable('the stored pin is unreadable');
      return other;
    },
    replace: async (key, current, next) => {
      const text = next && writePin(next);
      if (await texts.replace(key, current && writePin(current), text)) return true;
      return current === undefined && replaceUnreadable(key, await texts.find(key), text);
    },
  };
}

/** A unique text for each key: JSON separates the parts and escapes invalid characters. */
export function pinKeyText({ api, account }: PinKey): string {
  return JSON.stringify([api, account]);
}

/** Equal pins give equal texts. */
export function writePin({ label, origin, since, previous }: Pin): string {
  const before = previous === undefined ? undefined : { label: previous.label, until: previous.until };
  return JSON.stringify({ label, origin, since, previous: before });
}

/** Undefined for a text that is not a pin or has no valid version label. */
function readPin(text: string): Pin | undefined {
  const stored = storedValue(text);
  if (!isStoredObject(stored)) return undefined;
  const { label, origin, since, previous } = stored;
  if (typeof label !== 'string' || parseLabel(label) === undefined) return undefined;
  if (!isInstant(since) || !isOrigin(origin)) return undefined;
  if (previous === undefined) return { label, origin, since, previous };
  if (!isStoredObject(previous) || !isInstant(previous.until)) return undefined;
  const { label: before, until } = previous;
  if (before !== undefined && typeof before !== 'string') return undefined;
  return { label, origin, since, previous: { label: before, until } };
}

function isOrigin(value: unknown): value is Pin['origin'] {
  return value === 'first_call' || value === 'upgrade' || value === 'roll_back';
}
