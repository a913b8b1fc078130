// Resolves host names of targets, repeats the lookup while they are in use, and keeps the last result on failure.
import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';

export type FindAddresses = (
  name: string,
  callback: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
) => void;

export interface NameLookup {
  /** For `net.connect`. Caches a result for `maxAgeMs`. If the lookup fails, the last result is used. */
  readonly lookup: LookupFunction;
  /** Looks up again and resolves with the latest addresses. Undefined for a name that never resolved. */
  readonly renew: (name: string) => Promise<readonly LookupAddress[] | undefined>;
  /** The last connection failed, so the next one looks up again. */
  readonly invalidate: (name: string) => void;
}

export interface NameLookupOptions {
  readonly find?: FindAddresses | undefined;
  readonly maxAgeMs: number;
}

export function hostNameOf(origin: string): string | undefined {
  const host = new URL(origin).hostname.replace(/^\[|\]$/g, '');
  return isIP(host) === 0 ? host : undefined;
}

interface ResolvedName {
  addresses: readonly LookupAddress[];
  /** Monotonic milliseconds. `-Infinity` forces a lookup. */
  at: number;
}

const findBySystem: FindAddresses = (name, callback) =>
  systemLookup(name, { all: true }, (error, addresses) => callback(error, addresses ?? []));

export function createNameLookup({ find = findBySystem, maxAgeMs }: NameLookupOptions): NameLookup {
  const names = new Map<string, ResolvedName>();
  const pending = new Map<string, Promise<ResolvedName>>();

  /** Concurrent callers share one lookup per name. */
  function lookUp(name: string): Promise<ResolvedName> {
    const running = pending.get(name);
    if (running !== undefined) return running;
    const { promise, resolve, reject } = Promise.withResolvers<ResolvedName>();
    pending.set(name, promise);
    find(name, (error, addresses) => {
      pending.delete(name);
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
        // Asynchronous, because the caller needs its socket first.
        queueMicrotask(() => answer(known));
        return;
      }
      lookUp(name).then(answer, (error: NodeJS.ErrnoException) => callback(error, ''));
    },
    renew: (name) =>
      lookUp(name).then(
        ({ addresses }) => addresses,
        () => undefined,
      ),
    invalidate(name) {
      const known = names.get(name);
      if (known !== undefined) known.at = Number.NEGATIVE_INFINITY;
    },
  };
}

function matches({ family }: LookupAddress, wanted: string | number | undefined): boolean {
  return wanted === undefined || wanted === 0 || wanted === family || wanted === `IPv${family}`;
}
