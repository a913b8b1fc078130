// Tests the comparison of published schedules with the loaded files, through the record of the store.
import { describe, expect, it } from 'vitest';
import { rewrittenIn } from '../../../gateway/plan/published/comparison.ts';
import { createPublishedHistory } from '../../../gateway/plan/published/history.ts';
import type { PublishedEntry } from '../../../gateway/plan/published/record.ts';
import { StoreUnavailable } from '../../../gateway/policy/contract.ts';
import { NOW, ORDERS, type Workspace, workspace } from '../workspace.ts';

interface Situation {
  readonly records?: boolean;
  readonly now?: number;
  readonly environment?: Readonly<Record<string, string>>;
}

/** A record in memory. `load` acts like a gateway with the current files. */
function historyOf(files: Workspace, { records = true, now = NOW, environment = {} }: Situation = {}) {
  const kept = { files: [] as readonly PublishedEntry[], away: false, skipped: [] as string[] };
  const answer = async <T>(of: () => T): Promise<T> => {
    if (kept.away) throw new StoreUnavailable('away');
    return of();
  };
  const history = createPublishedHistory({
    published: {
      read: () => answer(() => ({ entries: kept.files, mark: String(kept.files.length) })),
      write: (written) =>
        answer(() => {
          kept.files = written;
          return true;
        }),
    },
    records,
    isShared: false,
    onSkipped: (what, { message }) => kept.skipped.push(`${what}: ${message}`),
    onSuperseded: () => kept.skipped.push('superseded'),
  });
  const load = async () => {
    const { policies, problems } = await files.load(environment);
    if (policies === undefined) throw new Error(`not in order: ${problems[0]?.message}`);
    const { problems: rewritten, former } = await rewrittenIn(policies, history, {
      configFile: files.configFile,
      environment,
      cwd: files.folder,
      now,
      public: 'https://api.example.com',
    });
    const accepted = rewritten.every(({ severity }) => severity !== 'error');
    if (accepted) await history.record(policies.files, policies.files, former);
    return { accepted, said: rewritten.map(({ rule, severity }) => `${severity} ${rule}`), rewritten };
  };
  return { kept, load };
}

const EARLIER = ORDERS.replace('sunset: 2027-01-15', 'sunset: 2026-12-31');
/** With a planned version. */
const PLANNED = `${ORDERS.replace('versions:\n', '  v3: { targets: [http://127.0.0.1:4003] }\nversions:\n')}  v3: { released: 2027-02-01 }\n`;

describe('published schedules', () => {
  it('start empty and keep accepted files as written', async () => {
    const text = ORDERS.replace('api: orders', '# ünï\r\napi: orders').replace(
      'http://127.0.0.1:4001',
      `"\${env:V1}"`,
    );
    await using files = await workspace({ 'policies/orders.yaml': text });
    const { kept, load } = historyOf(files, { environment: { V1: 'http://127.0.0.1:4001' } });
    expect(await load()).toEqual({ accepted: true, said: [], rewritten: [] });
    expect(kept.files).toEqual([{ kind: 'policy', name: 'policies/orders.yaml', text }]);
  });

  it('refuse an earlier sunset, with its position and both solutions', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    const { kept, load } = historyOf(files);
    await load();
    const before = kept.files;
    await files.write('policies/orders.yaml', EARLIER);
    const { accepted, rewritten } = await load();
    expect(accepted).toBe(false);
    expect(rewritten).toMatchObject([
      {
        file: 'policies/orders.yaml',
        line: 9,
        rule: 'sunset-rewritten',
        severity: 'error',
        message: 'the sunset of v1 was published as 2027-01-15 and is now earlier',
        hint: 'sunset 2027-01-15 or later; to publish the change anyway: sundial accept orders v1 --why "…"',
      },
    ]);
    expect(kept.files).toBe(before);
  });

  it.each([
    ['warning', ['warning sunset-rewritten']],
    ['off', []],
  ])('accept an earlier sunset with the rule %s, and record it', async (severity, said) => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    const { load } = historyOf(files);
    await load();
    await files.write('policies/orders.yaml', `${EARLIER}rules: { sunset-rewritten: ${severity} }\n`);
    expect(await load()).toMatchObject({ accepted: true, said });
    await files.write('policies/orders.yaml', EARLIER);
    expect(await load()).toMatchObject({ accepted: true, said: [] });
  });

  it.each([
    [
      'an extension',
      ORDERS.replace('guide:', 'extended: [ { to: 2027-04-15, announced: 2026-09-01, why: acme } ], guide:'),
    ],
    ['another version', PLANNED],
    ['a change that is no date', ORDERS.replace('4001', '4011')],
  ])('%s passes and is recorded', async (_what, text) => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    const { kept, load } = historyOf(files);
    await load();
    await files.write('policies/orders.yaml', text);
    expect(await load()).toMatchObject({ accepted: true, said: [] });
    expect(kept.files).toEqual([{ kind: 'policy', name: 'policies/orders.yaml', text }]);
  });

  it('keep a published extension through any edit', async () => {
    const extended = ORDERS.replace(
      'guide:',
      'extended: [ { to: 2027-04-15, announced: 2026-09-01, why: acme } ], guide:',
    );
    await using files = await workspace({ 'policies/orders.yaml': extended });
    const { load } = historyOf(files);
    await load();
    await files.write('policies/orders.yaml', ORDERS);
    expect(await load()).toMatchObject({ accepted: false, said: ['error sunset-rewritten'] });
  });

  it.each([
    ['an extension', 'extended: [ { to: 2027-04-15, announced: 2026-12-10, why: acme } ], guide:'],
    [
      'one more extension',
      'extended: [ { to: 2027-04-15, announced: 2026-09-01, why: acme }, { to: 2027-08-15, announced: 2026-12-10, why: acme } ], guide:',
      'extended: [ { to: 2027-04-15, announced: 2026-09-01, why: acme } ], guide:',
    ],
    [
      'the deprecation',
      'guide:',
      undefined,
      'deprecated: 2026-01-15',
      'announced: 2026-12-10, deprecated: 2026-12-15',
    ],
  ])(
    '%s: an unannounced change is published on its day, and may change before',
    async (_what, written, instead = 'guide:', from = '', to = '') => {
      const later = ORDERS.replace('guide:', written).replace(from, to);
      await using files = await workspace({ 'policies/orders.yaml': later });
      const earlier = historyOf(files);
      await earlier.load();
      const announced = historyOf(files, { now: Date.UTC(2026, 11, 10) });
      await announced.load();
      const changed = ORDERS.replace('guide:', instead).replace(from, to);
      await files.write(
        'policies/orders.yaml',
        from === '' ? changed : changed.replace('2027-01-15', '2026-12-31'),
      );
      expect(await announced.load()).toMatchObject({ accepted: false, said: ['error sunset-rewritten'] });
      expect(await earlier.load()).toMatchObject({ accepted: true, said: [] });
    },
  );

  it.each([
    ['not announced apart', ''],
    ['announced', 'announced: 2026-11-01, '],
  ])('a published deprecation, %s, is not hidden until a later day', async (_what, before) => {
    const dated = (announced: string, sunset = '2028-01-15') =>
      ORDERS.replace(
        'deprecated: 2026-01-15, sunset: 2027-01-15',
        `${announced}deprecated: 2027-01-15, sunset: ${sunset}`,
      );
    await using files = await workspace({ 'policies/orders.yaml': dated(before) });
    const { load } = historyOf(files);
    await load();
    const hidden = 'announced: 2026-12-10, ';
    await files.write('policies/orders.yaml', dated(hidden, '2027-12-31'));
    expect(await load()).toMatchObject({ accepted: false });
    await files.write('policies/orders.yaml', dated(hidden));
    const { accepted, said, rewritten } = await load();
    expect({ accepted, said }).toEqual({ accepted: true, said: ['warning dates-rewritten'] });
    expect(rewritten[0]?.message).toBe(
      'deprecated and sunset of v1 were published and are hidden until 2026-12-10',
    );
    expect(await load()).toMatchObject({ said: [] });
    // Callers know a date even while the file hides it.
    await files.write('policies/orders.yaml', dated(hidden, '2027-12-31'));
    expect(await load()).toMatchObject({ accepted: false, said: ['error sunset-rewritten'] });
    await files.write('policies/orders.yaml', dated(before));
    expect(await load()).toMatchObject({ accepted: true, said: [] });
  });

  it('an announced extension is not moved to a later day', async () => {
    const extended = (announced: string) =>
      ORDERS.replace(
        'guide:',
        `extended: [ { to: 2027-04-15, announced: ${announced}, why: acme } ], guide:`,
      );
    await using files = await workspace({ 'policies/orders.yaml': extended('2026-09-01') });
    const { load } = historyOf(files);
    await load();
    await files.write('policies/orders.yaml', extended('2026-12-10'));
    expect(await load()).toMatchObject({ accepted: false, said: ['error sunset-rewritten'] });
    const dates = 'sunset: 2026-12-31, extended: [ { to: 2027-05-15, announced: 2026-12-10, why: acme } ]';
    await files.write('policies/orders.yaml', ORDERS.replace('sunset: 2027-01-15', dates));
    expect(await load()).toMatchObject({ accepted: false });
  });

  it.each([
    ['without pins', 'resolve: [ { default: v2 } ]', 'warning'],
    ['with pins', 'resolve: [ { pin: { by: consumer } }, { default: v2 } ]', 'error'],
  ])('VER-5: dates-rewritten reports a moved release, %s', async (_how, resolve, severity) => {
    const text = ORDERS.replace(/resolve: .*/, resolve)
      .replaceAll('v1', '2024-06-01')
      .replaceAll('v2', '2026-01-15');
    await using files = await workspace({ 'policies/orders.yaml': text });
    const { load } = historyOf(files);
    await load();
    await files.write('policies/orders.yaml', text.replace('released: 2024-06-01', 'released: 2024-06-02'));
    expect(await load()).toMatchObject({
      accepted: severity === 'warning',
      said: [`${severity} dates-rewritten`],
    });
  });

  it('a planned version may change or disappear until its release by the lifecycle clock', async () => {
    await using files = await workspace({ 'policies/orders.yaml': PLANNED });
    const planned = historyOf(files);
    await planned.load();
    const released = historyOf(files, { now: Date.UTC(2027, 1, 1) });
    await released.load();
    await files.write('policies/orders.yaml', PLANNED.replace('2027-02-01', '2027-03-01'));
    expect(await planned.load()).toMatchObject({ accepted: true, said: [] });
    expect(await released.load()).toMatchObject({ accepted: true, said: ['warning dates-rewritten'] });
    await files.write('policies/orders.yaml', ORDERS);
    expect(await planned.load()).toMatchObject({ accepted: true, said: [] });
  });

  it('a removed API is reported in its last file, and a renamed file is not a removal', async () => {
    const more = ORDERS.replace('api: orders', 'api: more').replaceAll('/orders', '/more');
    await using files = await workspace({ 'policies/orders.yaml': ORDERS, 'policies/more.yaml': more });
    const { kept, load } = historyOf(files);
    await load();
    await files.remove('policies/more.yaml');
    await files.write('policies/renamed.yaml', more);
    expect(await load()).toMatchObject({ accepted: true, said: [] });
    await files.remove('policies/renamed.yaml');
    const { accepted, rewritten } = await load();
    expect(accepted).toBe(true);
    expect(rewritten).toMatchObject([
      { file: 'policies/renamed.yaml', line: 1, rule: 'version-removed', severity: 'warning' },
    ]);
    expect(kept.files.flatMap((entry) => ('name' in entry ? entry.name : []))).toEqual([
      'policies/orders.yaml',
    ]);
  });

  it('dates from a description are published like those of the policy', async () => {
    const description = (sunset: string) =>
      `openapi: 3.1.0\ninfo:\n  title: Orders\n  version: v1\n  x-lifecycle: { deprecation: { announced: 2026-01-15, sunset: ${sunset} } }\npaths: {}\n`;
    const text = ORDERS.replace('deprecated: 2026-01-15, sunset: 2027-01-15', 'openapi: ../v1.openapi.yaml');
    await using files = await workspace({
      'policies/orders.yaml': text,
      'v1.openapi.yaml': description('2027-01-15'),
    });
    const { kept, load } = historyOf(files);
    expect(await load()).toMatchObject({ accepted: true, said: [] });
    expect(kept.files.map((entry) => `${entry.kind} ${'name' in entry && entry.name}`)).toEqual([
      'policy policies/orders.yaml',
      'description v1.openapi.yaml',
    ]);
    await files.write('v1.openapi.yaml', description('2026-12-31'));
    expect(await load()).toMatchObject({ accepted: false, said: ['error sunset-rewritten'] });
    await files.write('v1.openapi.yaml', description('2027-01-15'));
    expect(await load()).toMatchObject({ accepted: true, said: [] });
  });

  it('an emptied store does not affect the gateway that wrote the record', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    const { kept, load } = historyOf(files);
    await load();
    kept.files = [];
    await files.write('policies/orders.yaml', EARLIER);
    expect(await load()).toMatchObject({ accepted: false, said: ['error sunset-rewritten'] });
    await files.write('policies/orders.yaml', ORDERS);
    expect(await load()).toMatchObject({ accepted: true, said: [] });
    expect(kept.files).toHaveLength(1);
  });

  it('an unavailable store is reported once, blocks nothing, and loses nothing', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    const { kept, load } = historyOf(files);
    await load();
    kept.away = true;
    await files.write('policies/orders.yaml', EARLIER);
    expect(await load()).toMatchObject({ accepted: true, said: [] });
    expect(kept.skipped).toEqual(['compared: away']);
    kept.away = false;
    expect(await load()).toMatchObject({ accepted: false, said: ['error sunset-rewritten'] });
    await files.write('policies/orders.yaml', PLANNED);
    expect(await load()).toMatchObject({ accepted: true });
    expect(kept.files).toEqual([{ kind: 'policy', name: 'policies/orders.yaml', text: PLANNED }]);
  });

  it('a process with a moved clock compares but records nothing', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    const rehearsal = historyOf(files, { records: false });
    await rehearsal.load();
    expect(rehearsal.kept.files).toEqual([]);
    rehearsal.kept.files = [{ kind: 'policy', name: 'policies/orders.yaml', text: ORDERS }];
    await files.write('policies/orders.yaml', EARLIER);
    expect(await rehearsal.load()).toMatchObject({ accepted: false });
  });

  it('unreadable files of the record are not compared', async () => {
    await using files = await workspace({ 'policies/orders.yaml': EARLIER });
    const { kept, load } = historyOf(files);
    kept.files = [
      { kind: 'policy', name: '', text: 'api: [' },
      { kind: 'policy', name: '../../etc/passwd', text: '' },
      {
        kind: 'policy',
        name: 'policies/orders.yaml',
        text: ORDERS.replace('2024-06-01', `"\${env:NOWHERE}"`),
      },
    ];
    expect(await load()).toMatchObject({ accepted: true, said: [] });
  });

  it('an unexpected error makes the comparison fail', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    const { policies } = await files.load();
    const history = createPublishedHistory({
      published: { read: () => Promise.reject(new RangeError('a mistake')), write: async () => true },
      records: true,
      isShared: false,
      onSkipped: () => undefined,
      onSuperseded: () => undefined,
    });
    if (policies === undefined) throw new Error('not in order');
    const options = {
      configFile: files.configFile,
      environment: {},
      now: NOW,
      public: 'https://api.example.com',
    };
    await expect(rewrittenIn(policies, history, options)).rejects.toThrow('a mistake');
  });

  it('a record written by another gateway since the comparison stays, unless it is the same', async () => {
    const file = (text: string) => ({ kind: 'policy', name: 'orders.yaml', text }) as const;
    let standing: { entries: readonly PublishedEntry[]; mark: string } = {
      entries: [file('older')],
      mark: '1',
    };
    let superseded = 0;
    const history = createPublishedHistory({
      published: {
        read: async () => standing,
        write: async (entries, mark) => {
          if (mark !== standing.mark) return false;
          standing = { entries, mark: `${Number(mark) + 1}` };
          return true;
        },
      },
      records: true,
      isShared: false,
      onSkipped: () => undefined,
      onSuperseded: () => {
        superseded += 1;
      },
    });
    const write = async (mine: string, others: string) => {
      const candidate = {};
      await history.compared(candidate, async () => undefined);
      standing = { entries: [file(others)], mark: `${standing.mark}0` };
      await history.record(candidate, [file(mine)], []);
    };
    await write('mine', 'newer');
    expect(standing.entries).toEqual([file('newer')]);
    expect(superseded).toBe(1);
    await write('same', 'same');
    expect(superseded).toBe(1);
  });
});
