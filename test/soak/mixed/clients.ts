// The clients of a soak: some send every kind of request in turn, some keep their connections for long.
import { setTimeout as pause } from 'node:timers/promises';
import { type Ask, type Client, overHttp1, overHttp2 } from '../../support/http-client.ts';
import type { Fixture } from './fixture.ts';
import { type Kind, NAME, POLITE, pick, type Scene } from './polite.ts';
import { LASTING, ROUGH } from './rough.ts';
import type { State } from './state.ts';
import type { Tally } from './tally.ts';

export interface Clients extends AsyncDisposable {
  /** Every kind once, one after the other. */
  readonly tryAll: () => Promise<void>;
  /** Resolves some time after `state.stopping`. */
  readonly run: (count: number) => Promise<void>;
}

/** The slowest kinds take long by design. */
const LONGEST_MS = 300_000;
const REST_MS = 15;
const LASTING_CLIENTS = 4;
/** Requests per HTTP/2 connection. */
const SESSION = 2_000;

/** Each kind as often as its share. */
const KINDS = Object.entries({ ...POLITE, ...ROUGH }).flatMap(([name, [share, kind]]) =>
  Array.from({ length: share }, (): readonly [string, Kind] => [name, kind]),
);

export function openClients({ gateway, issuer }: Fixture, state: State, tally: Tally): Clients {
  const { https, http } = gateway;
  const h1 = toHost(overHttp1(https));
  const plain = toHost(overHttp1(http, { tls: false }));
  let sessions = [toHost(overHttp2(https))];
  let uses = 0;
  const scene: Scene = {
    ports: { https, http },
    issuer,
    state,
    h1: () => h1,
    plain: () => plain,
    h2: () => {
      uses += 1;
      // The former connection stays open until then, since its last responses may be on their way.
      if (uses % SESSION === 0) {
        sessions = [toHost(overHttp2(https)), ...sessions];
        void sessions[2]?.[Symbol.asyncDispose]();
        sessions = sessions.slice(0, 2);
      }
      return sessions[0] ?? plain;
    },
  };
  const attempt = (name: string, kind: Kind) => tally.run(name, () => within(LONGEST_MS, kind(scene)));
  const keepAsking = async (from: readonly (readonly [string, Kind])[]): Promise<void> => {
    while (!state.stopping) {
      const [name, kind] = pick(from);
      await attempt(name, kind);
      await pause(REST_MS);
    }
  };
  return {
    tryAll: async () => {
      for (const [name, kind] of new Map(KINDS)) await attempt(name, kind);
    },
    run: async (count) => {
      await Promise.all([
        ...Array.from({ length: count }, () => keepAsking(KINDS)),
        ...Array.from({ length: LASTING_CLIENTS }, () => keepAsking(Object.entries(LASTING))),
      ]);
    },
    [Symbol.asyncDispose]: async () => {
      for (const each of [h1, plain, ...sessions]) await each[Symbol.asyncDispose]();
    },
  };
}

/** Adds the Host; the connections are to an address. */
function toHost(client: Client): Client {
  const named = (ask: Ask): Ask => ({ ...ask, headers: { host: NAME, ...ask.headers } });
  return { ...client, ask: (ask) => client.ask(named(ask)), begin: (ask) => client.begin(named(ask)) };
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const done = new AbortController();
  const late = pause(ms, undefined, { signal: done.signal }).then(() => {
    throw new Error(`no end within ${ms / 1_000} s`);
  });
  // Usually aborted.
  late.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    done.abort();
  }
}
