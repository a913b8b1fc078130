// Faults during a soak, with checks: reloads, certificate renewals, failing upstream and store.
import { setTimeout as pause } from 'node:timers/promises';
import { overHttp1 } from '../../support/http-client.ts';
import { ADMIN_TOKEN, type Fixture } from './fixture.ts';
import { NAME } from './polite.ts';
import { must, type State } from './state.ts';

export interface FaultReport {
  /** How often each fault was injected, by its name. */
  readonly counts: Record<string, number>;
  /** The longest time in seconds until the API of the fickle upstream recovered. */
  readonly recovery: () => number;
  /** Failed checks, one sentence each. */
  readonly wrong: readonly string[];
  /** Resolves when all loops have ended and the last fault is over. */
  readonly ended: Promise<void>;
}

/** Written one after the other; the last is valid YAML without an API. */
const BROKEN = [
  'api: [',
  'api: orders\nbase: /api/orders\naccess: public\nversions: none\n',
  `api: x\nbase: /x\naccess: public\nversions: { v1: { released: 2026-13-40 } }\n${'# x\n'.repeat(1_000)}`,
  'versions: none\n',
];
const RECOVERS_WITHIN_MS = 15_000;

export function startFaults(fixture: Fixture, state: State): FaultReport {
  const { gateway, fickle, redis } = fixture;
  const counts: Record<string, number> = {};
  const wrong: string[] = [];
  let recovery = 0;
  const count = (fault: string) => {
    counts[fault] = (counts[fault] ?? 0) + 1;
  };

  const admin = async (method: 'GET' | 'POST', path: string): Promise<{ status: number; body: unknown }> => {
    const answer = await fetch(`http://127.0.0.1:${gateway.admin}${path}`, {
      method,
      headers: method === 'GET' ? {} : { authorization: `Bearer ${ADMIN_TOKEN}` },
      signal: AbortSignal.timeout(30_000),
    });
    const text = await answer.text();
    return {
      status: answer.status,
      body: answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text,
    };
  };

  /** Repeats until the soak stops. A failed check is recorded and does not end the loop. */
  const loop = async (everyMs: number, action: () => Promise<void>): Promise<void> => {
    const rest = () => pause(everyMs * (0.5 + Math.random()));
    await rest();
    while (!state.stopping) {
      try {
        await action();
      } catch (error) {
        wrong.push(error instanceof Error ? error.message : String(error));
      }
      await rest();
    }
  };

  const reload = async (): Promise<void> => {
    const edition = state.edition.newest + 1;
    state.edition = { ...state.edition, newest: edition };
    await fixture.writeEdition(edition);
    const { status, body } = await admin('POST', '/-/reload');
    must(status === 200, () => `a good reload was answered ${status} ${JSON.stringify(body).slice(0, 500)}`);
    state.edition = { least: edition, newest: edition };
    count('reloads');
  };
  const badReload = async (): Promise<void> => {
    const text = BROKEN[(counts['bad reloads'] ?? 0) % BROKEN.length];
    await fixture.writeBroken(text);
    const { status } = await admin('POST', '/-/reload');
    await fixture.writeBroken(undefined);
    must(status === 422, () => `a bad reload was answered ${status}: ${text?.slice(0, 80)}`);
    count('bad reloads');
  };

  const interruptUpstream = async (
    fault: string,
    begin: () => unknown,
    lastsMs: number,
    end: () => unknown,
  ): Promise<void> => {
    state.fickle = { well: false, changes: state.fickle.changes + 1 };
    await begin();
    await pause(lastsMs);
    await end();
    await using client = overHttp1(gateway.http, { tls: false });
    const from = performance.now();
    while ((await client.ask({ path: '/api/fickle/well', headers: { host: NAME } })).status !== 200) {
      must(performance.now() - from < RECOVERS_WITHIN_MS, () => `not recovered after: ${fault}`);
      await pause(50);
    }
    recovery = Math.max(recovery, (performance.now() - from) / 1_000);
    state.fickle = { well: true, changes: state.fickle.changes + 1 };
    count(fault);
  };

  const freezeStore = async (): Promise<void> => {
    if (redis === undefined) return;
    redis.pause();
    await pause(2_000);
    redis.resume();
    count('store frozen');
  };
  const readAdmin = async (): Promise<void> => {
    for (const path of ['/-/healthy', '/-/ready', '/-/config', '/metrics']) {
      const { status } = await admin('GET', path);
      must(status === 200, () => `${path} was answered ${status}`);
    }
    count('admin reads');
  };
  const renewCertificate = async (): Promise<void> => {
    await fixture.certificates.place('api', ['api.example.com']);
    count('certificates');
  };

  const loops = [
    loop(3_000, async () => {
      await reload();
      if (Math.random() < 0.4) await badReload();
    }),
    loop(8_000, async () => {
      await interruptUpstream('upstream killed', fickle.kill, 1_500, fickle.start);
      await pause(2_000);
      await interruptUpstream(
        'upstream frozen',
        async () => fickle.freeze(),
        2_500,
        async () => fickle.thaw(),
      );
    }),
    loop(20_000, renewCertificate),
    loop(15_000, freezeStore),
    loop(5_000, readAdmin),
  ];
  return {
    counts,
    recovery: () => recovery,
    wrong,
    ended: Promise.all(loops).then(() => undefined),
  };
}
