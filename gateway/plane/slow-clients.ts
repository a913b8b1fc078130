// Clients that are too slow to be meant: they leave an answer untaken, or send a body that hardly moves.
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
  /** Octets of the answer that the client's side has taken, and sweeps since then in which more waited. */
  taken: number;
  sweepsUnread: number;
  /** While it is awaited: sweeps in which it was, and what came in them. */
  arriving: { waited: number; bytes: number } | undefined;
}

/** How a plane tells how far a request is. */
export interface Watching<T extends Watched> {
  /** Octets of the answer that wait for the client, and that it has taken. */
  readonly progress: (one: T) => { readonly waiting: number; readonly taken: number };
  readonly cut: (one: T) => void;
  /** `held`: the gateway does not read it, since its upstream is the slow one. */
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
 * Cuts an answer of which something waits and nothing is taken for `unreadMs`. A body of which fewer than `bodyRate.units`
 * octets came in a window of waiting for it is given to `onSlowBody`, once; time in which an upstream keeps the gateway from
 * reading does not count. `bodyRate` undefined: any speed will do.
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
  /** Where it stands in the list; negative while it is not in it. */
  place: number;
}

export interface OpenList<T extends OpenListItem> {
  readonly add: (one: T) => void;
  readonly remove: (one: T) => void;
  /** Calls `look` for each; it may remove what it is called with. */
  readonly sweep: (look: (one: T) => void) => void;
}

/**
 * No Map or Set: V8 links each outgrown table of those to the next one, so that whatever comes and goes survives the
 * collections of young objects.
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
      // Backwards, since the last one takes the place of one that is removed.
      for (let place = all.length - 1; place >= 0; place -= 1) {
        const one = all[place];
        if (one !== undefined) look(one);
      }
    },
  };
}
