// Where host names of targets lead at the moment: looked up again while they are in use, and never forgotten over a failure.
import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';

/** Every address of a name, as `node:dns` finds them. */
export type FindAddresses = (
  name: string,
  callback: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
) => void;

export interface NameLookup {
  /** For `net.connect`. An answer is used for as long as `maxAgeMs`; where none can be had, the last one is. */
  readonly lookup: LookupFunction;
  /** Asks again, whatever is known; resolves with what is known then, undefined for a name that was never found. */
  readonly renew: (name: string) => Promise<readonly LookupAddress[] | undefined>;
  /** The next connection asks again: the last one to this name has failed. */
  readonly doubt: (name: string) => void;
}

export interface NameLookupOptions {
  readonly find?: FindAddresses | undefined;
  /** Milliseconds. */
  readonly maxAgeMs: number;
}

/** Undefined for an address. */
export function hostNameOf(origin: string): string | undefined {
  const host = new URL(origin).hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 ? host : undefined;
}

interface ResolvedName {
  addresses: readonly LookupAddress[];
  /** Monotonic milliseconds; `-Infinity` in doubt. */
  at: number;
}

const findBySystem: FindAddresses = (name, callback) =>
  systemLookup(name, { all: true }, (error, addresses) => callback(error, addresses ?? []));

export function createNameLookup({ find = findBySystem, maxAgeMs }: NameLookupOptions): NameLookup {
  const names = new Map<string, ResolvedName>();
  const asking = new Map<string, Promise<ResolvedName>>();

  /** One lookup at a time per name; concurrent callers share it. */
  function ask(name: string): Promise<ResolvedName> {
    const running = asking.get(name);
    if (running !== undefined) return running;
    const { promise, resolve, reject } = Promise.withResolvers<ResolvedName>();
    asking.set(name, promise);
    find(name, (error, addresses) => {
      asking.delete(name);
      const before = names.get(name);
      if (error === null && addresses.length > 0) {
        const known = { addresses, at: performance.now() };
        names.set(name, known);
        resolve(known);
      } else if (before === undefined) {
        reject(error ?? Object.assign(new Error('no address'), { code: 'ENOTFOUND' }));
      } else {
        resolve(before);
      }
    });
    return promise;
  }

  return {
    lookup(name, { all, family }, callback) {
      const answer = ({ addresses }: ResolvedName): void => {
        const wanted = addresses.filter((each) => matches(each, family));
        const [first = addresses[0]] = wanted;
        if (all === true) callback(null, wanted.length === 0 ? [...addresses] : wanted);
        else callback(null, first?.address ?? '', first?.family);
      };
      const known = names.get(name);
      if (known !== undefined && performance.now() - known.at <= maxAgeMs) {
        // Never before the caller has its socket.
        queueMicrotask(() => answer(known));
        return;
      }
      ask(name).then(answer, (error: NodeJS.ErrnoException) => callback(error, ''));
    },
    renew: (name) =>
      ask(name).then(
        ({ addresses }) => addresses,
        () => undefined,
      ),
    doubt(name) {
      const known = names.get(name);
      if (known !== undefined) known.at = Number.NEGATIVE_INFINITY;
    },
  };
}

function matches({ family }: LookupAddress, wanted: string | number | undefined): boolean {
  return wanted === undefined || wanted === 0 || wanted === family || wanted === `IPv${family}`;
}
