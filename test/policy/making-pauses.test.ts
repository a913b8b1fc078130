// Requests for pauses: validation, times, and the described effects.
import { describe, expect, it } from 'vitest';
import { createBrownoutCalendar } from '../../gateway/policy/lifecycle/brownout-calendar.ts';
import { longExpired, type Pause } from '../../gateway/policy/lifecycle/override.ts';
import { effectsOf, type PausableVersion } from '../../gateway/policy/lifecycle/pause-effects.ts';
import { LONGEST_PAUSE_MS, makePause, type PauseRequest } from '../../gateway/policy/lifecycle/pause-rule.ts';
import { BEGIN, DAY, day, END, HOUR, life, pause, SUNSET, window } from './paused-life.ts';

describe('making a pause', () => {
  const NOW = day('2027-04-14');
  const request = (changes: Partial<PauseRequest> = {}): PauseRequest => ({
    api: 'orders',
    label: 'v1',
    author: 'alice',
    reason: 'incident 12',
    from: undefined,
    until: END,
    ...changes,
  });
  const unversioned = life({ released: -Infinity, deprecated: undefined, sunset: undefined });
  const apis = [
    { name: 'orders', versions: new Map([['v1', life()]]) },
    { name: 'health', versions: new Map([['none', { ...unversioned, api: 'health', label: 'none' }]]) },
  ];
  const make = (changes: Partial<PauseRequest>) => makePause(request(changes), { apis, now: NOW, id: 'p1' });

  it('begins now by default, and keeps author and reason, trimmed', () => {
    const made = make({ author: ' alice ', reason: 'incident 12: see “#ops”\n' });
    expect(made).toMatchObject({
      kind: 'pause',
      pause: pause({ label: 'v1', reason: 'incident 12: see “#ops”', from: NOW }),
      effects: [{ version: 'v1', effect: 'sunset_held' }],
    });
    expect(make({ from: NOW + HOUR })).toMatchObject({ kind: 'pause', pause: { from: NOW + HOUR } });
    expect(make({ label: undefined, until: NOW + LONGEST_PAUSE_MS }).kind).toBe('pause');
  });

  it('SUN-1: ends on a whole second, not before the requested instant', () => {
    const untils = [END - 1, END, END + 1].map((until) => {
      const made = make({ until });
      return made.kind === 'pause' && made.pause.until;
    });
    expect(untils).toEqual([END, END, END + 1000]);
  });

  it('is kept for a day after its end', () => {
    const over = pause();
    expect([END, END + DAY - 1, END + DAY].map((now) => longExpired([over], now))).toEqual([[], [], [over]]);
  });

  it.each<[string, Partial<PauseRequest>, string, string]>([
    ['an unknown API', { api: 'order' }, 'api', 'unknown API (known: orders)'],
    [
      'an API without versions or dates',
      { api: 'health' },
      'api',
      'an API without versions and without dates has nothing to pause',
    ],
    ['an unknown version', { label: 'v9' }, 'label', 'unknown version of orders (known: v1)'],
    [
      'an end that has passed',
      { until: NOW },
      'until',
      'must be later than 2027-04-14, when the pause begins',
    ],
    [
      'an end before its beginning',
      { from: END },
      'until',
      'must be later than 2027-04-20, when the pause begins',
    ],
    ['a start in the past', { from: NOW - 1 }, 'from', 'is in the past; omit it to begin now'],
    [
      'more than 90 days',
      { until: NOW + LONGEST_PAUSE_MS + 1 },
      'until',
      'a pause ends 2027-07-13 at the latest, 90 days from now; for longer, extend the sunset',
    ],
    ['an empty author', { author: '  ' }, 'author', 'must not be empty'],
    ['an empty reason', { reason: '' }, 'reason', 'must not be empty'],
    ['a reason of two lines', { reason: 'one\ntwo' }, 'reason', 'must be one line of printable text'],
    ['an escape sequence', { author: 'al\u001b[31mice' }, 'author', 'must be one line of printable text'],
    ['a right-to-left override', { reason: 'a\u202eb' }, 'reason', 'must be one line of printable text'],
    ['a reason of 201 characters', { reason: 'x'.repeat(201) }, 'reason', 'may have at most 200 characters'],
  ])('%s is refused with the field and a remedy', (_what, changes, field, message) => {
    expect(make(changes)).toEqual({ kind: 'refused', problems: [{ field, message }] });
  });

  it('reports all problems at once', () => {
    const refused = make({ api: 'x', until: 0, author: '', reason: '' });
    expect(refused.kind === 'refused' && refused.problems.map(({ field }) => field)).toEqual([
      'api',
      'until',
      'author',
      'reason',
    ]);
  });

  const windows = createBrownoutCalendar([window(BEGIN, BEGIN + HOUR), window(SUNSET - HOUR, SUNSET)]);

  it.each<[string, PausableVersion, Partial<Pause>, string, string]>([
    [
      'ended already',
      life({ sunset: BEGIN - DAY }),
      {},
      'served_again',
      'v1 is served again until 2027-04-20, past its sunset of 2027-04-12',
    ],
    [
      'about to end',
      life({}, { brownouts: windows }),
      {},
      'sunset_held',
      'v1 stays until 2027-04-20 without 2 brownouts, past its sunset of 2027-04-15',
    ],
    [
      'with a brownout in that time',
      life({}, { brownouts: windows }),
      { until: BEGIN + DAY },
      'brownouts_held',
      'v1 is served until 2027-04-14 without 1 brownout',
    ],
    [
      'without upstream',
      life({ sunset: 0 }, { upstream: undefined }),
      {},
      'stays_ended',
      'v1 has no upstream: its 410 stays',
    ],
    [
      'redirected and without upstream',
      life({ sunset: 0, after: { kind: 'redirect', to: 'v2', unsafe: 308 } }, { upstream: undefined }),
      {},
      'stays_ended',
      'v1 has no upstream: its redirect stays',
    ],
    [
      'forgotten and without upstream',
      life({ sunset: 0, forgotten: 1 }, { upstream: undefined }),
      {},
      'stays_ended',
      'v1 has no upstream: its 404 stays',
    ],
    ['far from its end', life({ sunset: END }), {}, 'none', 'v1 has no sunset or brownout during the pause'],
  ])('describes its effect on a version %s', (_what, rules, changes, effect, summary) => {
    const found = effectsOf(pause(changes), [{ name: 'orders', versions: new Map([['v1', rules]]) }]);
    expect(found).toMatchObject([{ version: 'v1', operation: undefined, effect, summary }]);
  });

  it('lists the operations with their own end, and only the named versions', () => {
    const search = { ...life({ sunset: BEGIN - DAY }), operation: 'GET /search' };
    const same = { ...life(), operation: 'GET /' };
    const v1 = life({}, { operations: { list: [search, same] } });
    const versions = new Map([
      ['v1', v1],
      ['v2', { ...life(), label: 'v2' }],
    ]);
    const named = (label: string | undefined) =>
      effectsOf(pause({ label }), [{ name: 'orders', versions }]).map(
        ({ version: of, operation, effect }) => [of, operation, effect],
      );
    expect(named('v1')).toEqual([
      ['v1', undefined, 'sunset_held'],
      ['v1', 'GET /search', 'served_again'],
    ]);
    expect(named(undefined)).toContainEqual(['v2', undefined, 'sunset_held']);
    expect(effectsOf(pause({ api: 'gone' }), [{ name: 'orders', versions }])).toEqual([]);
  });
});
