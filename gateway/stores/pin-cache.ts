// A cache of pins in front of either store, so that a known pin needs no call.
import type { Pin, PinStore } from '../policy/versioning/pin.ts';
import { type PinRecords, pinKeyText } from './pin-records.ts';

export interface CachedPins extends PinStore {
  readonly forget: (key: string) => void;
  /** For a pin that was claimed elsewhere: only a cached absence can be stale. */
  readonly forgetAbsence: (key: string) => void;
  readonly forgetAll: () => void;
}

const DEFAULT_MOST_PINS = 100_000;

/**
 * Caches at most `mostPins` keys (default 100,000), absences included; the least recently used is evicted.
 * Concurrent requests for one unknown key share one call.
 */
export function createPinCache(
  records: PinRecords,
  { mostPins = DEFAULT_MOST_PINS }: { readonly mostPins?: number } = {},
): CachedPins {
  const known = new Map<string, Pin | undefined>();
  const flights = new Map<string, Promise<Pin | undefined>>();
  /** Counts calls of `forget`. An answer to a call sent before the last of them may be stale. */
  let forgotten = 0;

  const keep = (key: string, pin: Pin | undefined): void => {
    known.delete(key);
    const leastRecentlyUsed = known.size >= mostPins ? known.keys().next() : undefined;
    if (leastRecentlyUsed?.done === false) known.delete(leastRecentlyUsed.value);
    known.set(key, pin);
  };

  const fetchPin = (key: string): Promise<Pin | undefined> => {
    const before = forgotten;
    const isCurrent = () => flights.get(key) === flight;
    const flight: Promise<Pin | undefined> = records
      .find(key)
      .then((pin) => {
        if (isCurrent() && forgotten === before) keep(key, pin);
        return pin;
      })
      .finally(() => {
        if (isCurrent()) flights.delete(key);
      });
    flights.set(key, flight);
    return flight;
  };

  /** Caches the result of `change`. The answer to an earlier `find` is older and is not cached. */
  const cacheResultOf = async <T>(
    key: string,
    change: Promise<T>,
    resultOf: (done: T) => { readonly pin: Pin | undefined } | undefined,
  ): Promise<T> => {
    const before = forgotten;
    try {
      const done = await change;
      const result = resultOf(done);
      if (result === undefined || forgotten !== before) known.delete(key);
      else keep(key, result.pin);
      return done;
    } catch (error) {
      known.delete(key);
      throw error;
    } finally {
      flights.delete(key);
    }
  };

  const forget = (key: string): void => {
    forgotten += 1;
    known.delete(key);
    flights.delete(key);
  };

  return {
    find: (pinKey) => {
      const key = pinKeyText(pinKey);
      const pin = known.get(key);
      if (pin === undefined && !known.has(key)) return flights.get(key) ?? fetchPin(key);
      known.delete(key);
      known.set(key, pin);
      return pin;
    },
    claim: (pinKey, pin) => {
      const key = pinKeyText(pinKey);
      return cacheResultOf(key, records.claim(key, pin), (stored) => ({ pin: stored }));
    },
    replace: (pinKey, current, next) => {
      const key = pinKeyText(pinKey);
      return cacheResultOf(key, records.replace(key, current, next), (done) =>
        done ? { pin: next } : undefined,
      );
    },
    forget,
    forgetAbsence: (key) => {
      const isNone = known.has(key) && known.get(key) === undefined;
      if (isNone || flights.has(key)) forget(key);
    },
    forgetAll: () => {
      forgotten += 1;
      known.clear();
      flights.clear();
    },
  };
}
