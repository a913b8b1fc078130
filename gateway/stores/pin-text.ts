// How a pin and its key are written in a store: text that reads the same for every edition of a store.
// pin-cache.ts keys by it; what the stores compare when a pin is moved is this text.
import { parseLabel } from '../policy/versioning/label.ts';
import type { Pin, PinKey } from '../policy/versioning/pin.ts';
import { isInstant, isStoredObject, storedValue } from './stored-json.ts';

/** One text per key, whatever an account is called: JSON keeps the parts apart and escapes what is no character. */
export function pinKeyText({ api, account }: PinKey): string {
  return JSON.stringify([api, account]);
}

/** Equal pins make equal texts. */
export function writePin({ label, origin, since, previous }: Pin): string {
  const before = previous === undefined ? undefined : { label: previous.label, until: previous.until };
  return JSON.stringify({ label, origin, since, previous: before });
}

/** Undefined for a text that is no pin, or names what no version can be called. */
export function readPin(text: string): Pin | undefined {
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
