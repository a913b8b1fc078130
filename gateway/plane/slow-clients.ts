// Finds clients that stop reading a response or send a body too slowly.
import type { Refusal, RequestRefusal } from '../exchange/directive.ts';
import type { Bounds } from '../plan/bounds.ts';

export const SLOW_BODY: Refusal = {
  reason: 'request_malformed',
  status: 408,
  message: 'The request body did not arrive in time.',
};

export const TOO_LATE: RequestRefusal = {
  reason: 'request_malformed',
  status: 408,
  message: 'The request did not arrive in time.',
};

export interface Watched extends OpenListItem {
  /** Octets of the response that the client has read, and later sweeps in which unread octets waited. */
  taken: number;
  sweepsUnread: number;
  /** While the gateway waits for the body: the sweeps of this window, and the octets received in them. */
  arriving: { waited: number; bytes: number } | undefined;
}

/** How a plane reports the progress of a request. */
export interface Watching<T extends Watched> {
  /** Octets of the response: unread, and read by the client. */
  readonly progress: (one: T) => { readonly waiting: number; readonly taken: number };
  readonly cut: (one: T) => void;
  /** `held`: the gateway stopped reading because the upstream is slow. */
  readonly bodyState: (one: T) => 'ended' | 'held' | 'awaited';
  readonly onCut: () => void;
  readonly onSlowBody: (one: T) => void;
}

export interface SlowClients<T extends Watched> {
  readonly watch: (one: T) => void;
  readonly forget: (one: T) => void;
  readonly stop: () => void;
}

const SWEEPS_A_BOUND = 4;
const SWEEPS_A_WINDOW = 10;

/**
 * Cuts a response if octets wait and the client reads nothing for `unreadMs`. Calls `onSlowBody` once if fewer than
 * `bodyRate.units` octets of a body arrive in a window. Only time in which the gateway reads counts. `bodyRate` undefined:
 * no minimum rate.
 */
export function createSlowClients<T extends Watched>(
  { unreadMs, bodyRate }: Pick<Bounds, 'unreadMs' | 'bodyRate'>,
  { progress, cut, bodyState, onCut, onSlowBody }: Watching<T>,
): SlowClients<T> {
  const watched = createOpenList<T>();

  function lookAtAnswer(one: T): void {
    const { waiting, taken } = progress(one);
    one.sweepsUnread = waiting > 0 && taken === one.taken ? one.sweepsUnread + 1 : 0;
    one.taken = taken;
    if (one.sweepsUnread < SWEEPS_A_BOUND) return;
    watched.remove(one);
    onCut();
    cut(one);
  }

  function lookAtBody(one: T, fewest: number): void {
    const { arriving } = one;
    if (arriving === undefined) return;
    const state = bodyState(one);
    if (state === 'ended') one.arriving = undefined;
    if (state !== 'awaited') return;
    arriving.waited += 1;
    if (arriving.waited < SWEEPS_A_WINDOW) return;
    if (arriving.bytes < fewest) {
      one.arriving = undefined;
      onSlowBody(one);
      return;
    }
    arriving.waited = 0;
    arriving.bytes = 0;
  }

  const sweeps = [setInterval(() => watched.sweep(lookAtAnswer), unreadMs / SWEEPS_A_BOUND)];
  if (bodyRate !== undefined) {
    const look = (one: T): void => lookAtBody(one, bodyRate.units);
    sweeps.push(setInterval(() => watched.sweep(look), bodyRate.windowMs / SWEEPS_A_WINDOW));
  }
  for (const timer of sweeps) timer.unref();
  return { watch: watched.add, forget: watched.remove, stop: () => sweeps.forEach(clearInterval) };
}

interface OpenListItem {
  /** Index in the list. Negative if it is not in the list. */
  place: number;
}

export interface OpenList<T extends OpenListItem> {
  readonly add: (one: T) => void;
  readonly remove: (one: T) => void;
  /** `look` may remove its argument. */
  readonly sweep: (look: (one: T) => void) => void;
}

/**
 * Not a Map or Set: V8 links each outgrown table of those to the next one, so that short-lived entries survive the
 * collection of young objects.
 */
export function createOpenList<T extends OpenListItem>(): OpenList<T> {
  const all: T[] = [];
  return {
    add(one) {
      one.place = all.length;
      all.push(one);
    },
    remove(one) {
      const { place } = one;
      if (place < 0) return;
      one.place = -1;
      const last = all.pop();
      if (last === undefined || last === one) return;
      all[place] = last;
      last.place = place;
    },
    sweep(look) {
      // Backwards: `remove` moves the last item to the free place.
      for (let place = all.length - 1; place >= 0; place -= 1) {
        const one = all[place];
        if (one !== undefined) look(one);
      }
    },
  };
}
