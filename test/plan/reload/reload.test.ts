// Tests live reload: the plan is replaced as a whole or not at all.
import { readFile as readFromDisk } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { createPolicyReader } from '../../../gateway/plan/loader-thread/policy-reader.ts';
import type { GatewayPlan } from '../../../gateway/plan/plan.ts';
import { createPublishedHistory } from '../../../gateway/plan/published/history.ts';
import type { PublishedEntry } from '../../../gateway/plan/published/record.ts';
import type { ReadFile } from '../../../gateway/plan/read/files.ts';
import { watchPolicies } from '../../../gateway/plan/reload/reload.ts';
import type { PolicyWatch, WatchOptions } from '../../../gateway/plan/reload/watch-contract.ts';
import { GATEWAY, NOW, ORDERS, type Workspace, workspace } from '../workspace.ts';

const FOUR_DAYS = ORDERS.replace('sunset: 2027-01-15', 'sunset: 2027-01-19');

/** Watches the files. `meanwhile` runs after the first load and before the watch. */
async function watching(
  files: Workspace,
  { readFile, meanwhile }: { readFile?: ReadFile; meanwhile?: () => Promise<void> } = {},
) {
  const { settings, plan, pieces, policies, isCurrent } = await files.load();
  if (settings === undefined || plan === undefined || pieces === undefined || policies === undefined)
    throw new Error('the files are not in order');
  await meanwhile?.();
  const callbacks: string[] = [];
  const plans: GatewayPlan[] = [plan];
  let wake = (): void => undefined;
  const tell = (what: string) => {
    callbacks.push(what);
    wake();
  };
  let recorded: readonly PublishedEntry[] = [];
  const history = createPublishedHistory({
    published: {
      read: async () => ({ entries: recorded, mark: '' }),
      write: async (files) => {
        recorded = files;
        return true;
      },
    },
    records: true,
    isShared: false,
    onSkipped: (what) => tell(`not ${what}`),
    onSuperseded: () => tell('superseded'),
  });
  const options: WatchOptions = {
    settings,
    configFile: files.configFile,
    environment: {},
    now: () => NOW,
    wallClock: () => NOW,
    history,
    cwd: files.folder,
    openReader: (start) => createPolicyReader(start, readFile),
    onPlan: (next) => {
      plans.push(next);
      tell('plan');
    },
    onRejected: (problems) => tell(`rejected: ${problems[0]?.message}`),
    onQuarantined: () => undefined,
    onUnchanged: () => tell('unchanged'),
    onBegun: () => undefined,
    onRestartNeeded: () => tell('restart needed'),
    onFault: (error) => tell(`fault: ${String(error)}`),
  };
  const watch: PolicyWatch = watchPolicies(options, {
    revision: plan.revision,
    rewritten: [],
    pieces,
    quarantined: [],
    asRead: { ...policies, isCurrent },
  });
  const until = async (what: string): Promise<void> => {
    while (!callbacks.includes(what)) await new Promise<void>((resolve) => (wake = resolve));
  };
  return { watch, callbacks, plans, until, [Symbol.asyncDispose]: () => watch.close() };
}

const sunsetOf = (plan: GatewayPlan | undefined) => plan?.apis[0]?.versions.get('v1')?.schedule.sunset;

describe('reload', () => {
  it('delivers a new plan when a policy has changed', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    await using live = await watching(files);
    await files.write('policies/orders.yaml', FOUR_DAYS);
    await live.watch.reload();
    expect(live.callbacks).toContain('plan');
    expect(sunsetOf(live.plans.at(-1))).toBe(Date.UTC(2027, 0, 19));
  });

  it('does nothing for unchanged documents', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    await using live = await watching(files);
    await live.watch.reload();
    expect(live.callbacks).toEqual(['unchanged']);
  });

  it('on request reports the time and the findings of an unchanged plan again', async () => {
    const SWITCHED = 'rules: { sunset-rewritten: warning }\n';
    await using files = await workspace({ 'policies/orders.yaml': ORDERS + SWITCHED });
    await using live = await watching(files);
    await files.write('policies/orders.yaml', FOUR_DAYS + SWITCHED);
    await live.watch.reload();
    await files.write('policies/orders.yaml', ORDERS + SWITCHED);
    const taken = await live.watch.reload();
    const again = await live.watch.reload();
    expect(again).toEqual({ ...taken, kind: 'unchanged' });
    expect(again).toMatchObject({
      since: NOW,
      problems: [{ rule: 'sunset-rewritten', severity: 'warning' }],
    });
  });

  it('keeps the plan in force on any problem, and accepts the correction', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    await using live = await watching(files);
    await files.write('policies/orders.yaml', ORDERS.replace('sunset: 2027-01-15', 'sunset: 2027-02-30'));
    await live.watch.reload();
    expect(live.callbacks[0]).toMatch(/^rejected: not a calendar date/);
    expect(live.plans).toHaveLength(1);
    await files.write('policies/orders.yaml', FOUR_DAYS);
    await live.watch.reload();
    expect(live.plans).toHaveLength(2);
  });

  it('refuses an empty folder', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    await using live = await watching(files);
    await files.remove('policies/orders.yaml');
    await live.watch.reload();
    expect(live.callbacks[0]).toBe('rejected: no policy file matches this pattern');
  });

  it('detects a written file', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    await using live = await watching(files);
    await live.watch.ready;
    await files.write('policies/orders.yaml', FOUR_DAYS);
    await live.until('plan');
    expect(sunsetOf(live.plans.at(-1))).toBe(Date.UTC(2027, 0, 19));
  });

  it('detects a file saved between the first load and the watch', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    const meanwhile = () => files.write('policies/orders.yaml', FOUR_DAYS);
    await using live = await watching(files, { meanwhile });
    await live.until('plan');
    expect(sunsetOf(live.plans.at(-1))).toBe(Date.UTC(2027, 0, 19));
  });

  it('does not start its reader for unchanged files, and reports nothing', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    let reads = 0;
    const readFile: ReadFile = (path) => {
      // The first load does not use this reader.
      reads += 1;
      return readFromDisk(path);
    };
    await using live = await watching(files, { readFile });
    await expect.poll(() => live.watch.last()).toMatchObject({ at: NOW, outcome: { kind: 'unchanged' } });
    await live.watch.close();
    expect({ reads, callbacks: live.callbacks }).toEqual({ reads: 0, callbacks: [] });
  });

  it.each<[string, (files: Workspace) => Promise<void>, string]>([
    [
      'that was added',
      ({ write }) => write('policies/new.yaml', ORDERS),
      'rejected: the API "orders" is already described',
    ],
    [
      'that was removed',
      ({ remove }) => remove('policies/orders.yaml'),
      'rejected: no policy file matches this pattern',
    ],
    ['that a policy names', ({ write }) => write('policies/guide.md', 'Changed.'), 'plan'],
  ])('detects a file %s between the first load and the watch', async (_name, change, expected) => {
    const text = ORDERS.replace('guide: https://docs.example.com/v2', 'guide: guide.md');
    await using files = await workspace({ 'policies/orders.yaml': text, 'policies/guide.md': 'Move.' });
    await using live = await watching(files, { meanwhile: () => change(files) });
    await expect.poll(() => live.callbacks[0]).toContain(expected);
  });

  it('asks for a restart once per change of gateway.yaml, and still reloads policies', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    await using live = await watching(files);
    await files.write('config/gateway.yaml', GATEWAY.replace('api.example.com', 'other.example.com'));
    await files.write('policies/orders.yaml', FOUR_DAYS);
    await live.watch.reload();
    await live.watch.reload();
    expect(live.callbacks.filter((what) => what === 'restart needed')).toHaveLength(1);
    expect(live.plans.at(-1)?.public).toBe('https://api.example.com');
    expect(live.plans).toHaveLength(2);
  });

  it('never replaces a newer plan with the result of a slow load', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    const gate = Promise.withResolvers<void>();
    const reading = Promise.withResolvers<void>();
    let slow = true;
    const readFile: ReadFile = async (path) => {
      const bytes = await readFromDisk(path);
      if (slow && path.endsWith('orders.yaml')) {
        slow = false;
        reading.resolve();
        await gate.promise;
      }
      return bytes;
    };
    await using live = await watching(files, { readFile });
    await files.write('policies/orders.yaml', ORDERS.replace('sunset: 2027-01-15', 'sunset: 2027-01-16'));
    const first = live.watch.reload();
    await reading.promise;
    await files.write('policies/orders.yaml', FOUR_DAYS);
    const second = live.watch.reload();
    gate.resolve();
    await Promise.all([first, second]);
    expect(sunsetOf(live.plans.at(-1))).toBe(Date.UTC(2027, 0, 19));
  });

  it('keeps the result of the last load until the next one', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    await using live = await watching(files);
    await files.write('policies/orders.yaml', 'api: [');
    const rejected = await live.watch.reload();
    expect(live.watch.last()).toEqual({ at: NOW, outcome: rejected });
    await files.write('policies/orders.yaml', FOUR_DAYS);
    // Accepted, or unchanged if the watch was first.
    const taken = await live.watch.reload();
    expect(live.watch.last()?.outcome).toEqual(taken);
    expect([rejected.kind, taken.kind]).toEqual([
      'rejected',
      expect.stringMatching(/^(accepted|unchanged)$/),
    ]);
  });

  it('calls nothing after it was closed', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    const live = await watching(files);
    await files.write('policies/orders.yaml', FOUR_DAYS);
    const load = live.watch.reload();
    await live.watch.close();
    await load;
    await live.watch.reload();
    expect(live.callbacks).toEqual([]);
  });

  it('handles a burst with one or two loads and ends at the last state', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    await using live = await watching(files);
    await files.write('policies/orders.yaml', FOUR_DAYS);
    await Promise.all(Array.from({ length: 50 }, () => live.watch.reload()));
    expect(live.callbacks.length).toBeLessThanOrEqual(3);
    expect(sunsetOf(live.plans.at(-1))).toBe(Date.UTC(2027, 0, 19));
  });
});
