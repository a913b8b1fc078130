// Pins over the texts that a store keeps of them. What is stored as one and is none counts as none: the account it
// stands for is not refused for good, and the next pin that is stored takes its place.
// Made by either store, below pin-cache.ts.
import { StoreUnavailable } from '../policy/contract.ts';
import type { PinRecords } from './pin-cache.ts';
import { readPin, writePin } from './pin-text.ts';

/** Texts by key; undefined where there is none. Every answer rejects with `StoreUnavailable` only. */
export interface PinTexts {
  readonly find: (key: string) => Promise<string | undefined>;
  /** Stores `text` unless there is one; the one that stands. */
  readonly claim: (key: string, text: string) => Promise<string>;
  /** False, and nothing done, unless `current` stands there. */
  readonly replace: (key: string, current: string | undefined, next: string | undefined) => Promise<boolean>;
}

/** `onFault` is told once that something is no pin, however much of it there is. */
export function createPinRecords(texts: PinTexts, onFault: (error: unknown) => void): PinRecords {
  let isTold = false;
  const tell = (): void => {
    if (!isTold) onFault(new TypeError('what is stored as a pin is none; its account counts as not pinned'));
    isTold = true;
  };
  /** Whether `text` took the place of what stands at `key` and is no pin. */
  const supplant = async (key: string, standing: string | undefined, text: string | undefined) =>
    standing !== undefined && readPin(standing) === undefined && texts.replace(key, standing, text);

  return {
    find: async (key) => {
      const text = await texts.find(key);
      const pin = text === undefined ? undefined : readPin(text);
      if (text !== undefined && pin === undefined) tell();
      return pin;
    },
    claim: async (key, pin) => {
      const text = writePin(pin);
      const standing = await texts.claim(key, text);
      const read = readPin(standing);
      if (read !== undefined) return read;
      tell();
      if (await supplant(key, standing, text)) return pin;
      // Whoever came first has put it right.
      const other = readPin(await texts.claim(key, text));
      if (other === undefined) throw new StoreUnavailable('what is stored as a pin is none');
      return other;
    },
    replace: async (key, current, next) => {
      const text = next && writePin(next);
      if (await texts.replace(key, current && writePin(current), text)) return true;
      return current === undefined && supplant(key, await texts.find(key), text);
    },
  };
}
