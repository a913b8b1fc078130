// Tests the findings about brownouts: form, dates, notice. «…» is the marked text.
import { describe, expect, it } from 'vitest';
import { ordersPolicy } from '../support/orders-policy.ts';
import { threadMs } from '../support/thread-time.ts';
import { workspace } from './workspace.ts';

/** Line 9 has v1 with its brownouts, deprecated from 2026-01-15 to 2027-01-15. */
const policy = (brownouts: string, more = '') =>
  ordersPolicy(
    `  v1: { released: 2024-06-01, deprecated: 2026-01-15, sunset: 2027-01-15, successor: v2, guide: https://docs.example.com/v2, brownouts: ${brownouts} }
  v2: { released: 2026-01-15 }
${more}`,
    { resolve: '[ { path: "/api/{version}/orders" }, { default: v2 } ]', access: 'public' },
  );

/** The findings for line 9, without the line. */
async function said(brownouts: string, more?: string): Promise<readonly string[]> {
  await using files = await workspace({ 'policies/orders.yaml': policy(brownouts, more) });
  return (await files.problems()).map((problem) => problem.replace('policies/orders.yaml:9 ', ''));
}

const TOLD = 'announced: 2026-06-01';
const weekly = `cron: "0 14 * * 2", zone: UTC, for: 15m`;

describe('valid brownouts', () => {
  it.each([
    [
      'a dated window to an instant',
      `[ { from: 2027-01-05T14:00:00+01:00, until: 2027-01-05T15:00:00+01:00, ${TOLD} } ]`,
    ],
    [
      'a dated window of a length',
      `[ { from: 2027-01-05, for: 4h, ${TOLD}, status: 503, message: Move to v2. } ]`,
    ],
    ['a repetition', `[ { ${weekly}, from: 2026-12-01, until: 2027-01-05, ${TOLD} } ]`],
    ['a repetition from deprecation to sunset', `[ { ${weekly}, announced: 2025-12-01 } ]`],
    [
      'escalating phases',
      `[ { before_sunset: 30d, ${weekly}, ${TOLD} }, { before_sunset: 7d, cron: "0 14 * * *", zone: Europe/Berlin, for: 4h, ${TOLD} } ]`,
    ],
    ['a share of the callers', `[ { before_sunset: 7d, for: 4h, percentage: 25%, ${TOLD} } ]`],
    [
      'windows that touch',
      `[ { from: 2027-01-05, for: 1h, ${TOLD} }, { from: 2027-01-05T01:00:00Z, for: 1h, ${TOLD} } ]`,
    ],
    [
      'windows up to both dates',
      `[ { from: 2026-01-15, for: 1h, announced: 2026-01-01 }, { from: 2027-01-14, until: 2027-01-15, ${TOLD} } ]`,
    ],
    ['fourteen days of notice', '[ { from: 2026-12-15, for: 1h, announced: 2026-12-01 } ]'],
  ])('%s', async (_title, brownouts) => expect(await said(brownouts)).toEqual([]));
});

describe('the form of a brownout', () => {
  const combination = (entry: string) =>
    [`[ { ${entry}, ${TOLD} } ]`, `«{ ${entry}, ${TOLD} }» error: `] as const;
  it.each([
    [...combination('cron: "0 14 * * 2", for: 1h'), 'a cron expression needs its zone, such as zone: UTC'],
    [...combination('cron: "0 14 * * 2", zone: UTC'), 'a cron expression needs for: how long a window lasts'],
    [...combination('from: 2027-01-05, for: 1h, zone: UTC'), 'zone is only for a cron expression'],
    [...combination('from: 2027-01-05'), 'a window needs until or for'],
    [...combination('until: 2027-01-05'), 'a brownout needs from, before_sunset or cron'],
    [...combination('from: 2027-01-05, until: 2027-01-06, for: 1h'), 'a window has until or for, not both'],
    [...combination('before_sunset: 7d, from: 2027-01-05, for: 1h'), 'before_sunset replaces from and until'],
    [...combination('before_sunset: 7d'), 'before_sunset needs for: how long a window lasts'],
    [
      '[ { from: 2027-01-05, for: 1h } ]',
      '«{ from: 2027-01-05, for: 1h }» error: ',
      'the key "announced" is missing',
    ],
    [
      `[ { cron: "0 25 * * *", zone: UTC, for: 1h, ${TOLD} } ]`,
      '«"0 25 * * *"» error: ',
      'not a cron expression of five fields such as 0 14 * * 2: "0 25 * * *" (minute 0-59, hour 0-23, day of month 1-31, month 1-12, day of week 0-6 or sun to sat)',
    ],
    [
      `[ { cron: "0 5 * * *", zone: Europe/Atlantis, for: 1h, ${TOLD} } ]`,
      '«Europe/Atlantis» error: ',
      'not a time zone such as UTC or Europe/Berlin: "Europe/Atlantis"',
    ],
    [
      `[ { before_sunset: 7d, for: 1h, percentage: 0%, ${TOLD} } ]`,
      '«0%» error: ',
      'not a share such as 25%: "0%"',
    ],
    [`[ { before_sunset: 7d, for: 1h, status: 429, ${TOLD} } ]`, '«429» error: ', 'expected 410 or 503: 429'],
    [
      `[ { before_sunset: 7d, for: 1h, precentage: 5%, ${TOLD} } ]`,
      '«precentage» error: ',
      'unknown key "precentage" (did you mean "percentage"?)',
    ],
  ])('%s', async (brownouts, marked, message) => expect(await said(brownouts)).toEqual([marked + message]));
});

describe('brownout-windows', () => {
  it.each([
    [
      'a window before the deprecation',
      '[ { from: 2026-01-14, for: 1h, announced: 2025-06-01 } ]',
      '«2026-01-14» error: a window from 2026-01-14T00:00Z begins before deprecated (2026-01-15T00:00Z)',
    ],
    [
      'a window beyond the sunset',
      `[ { from: 2027-01-14, for: 2d, ${TOLD} } ]`,
      `«{ from: 2027-01-14, for: 2d, ${TOLD} }» error: a window until 2027-01-16T00:00Z ends after the sunset (2027-01-15T00:00Z)`,
    ],
    [
      'RD1: a window with equal ends',
      `[ { from: 2027-01-05, until: 2027-01-05, ${TOLD} } ]`,
      `«{ from: 2027-01-05, until: 2027-01-05, ${TOLD} }» error: an empty window: it ends 2027-01-05T00:00Z`,
    ],
    [
      'a phase longer than the deprecation',
      '[ { before_sunset: 400d, for: 1h, announced: 2025-01-01 } ]',
      '«400d» error: before_sunset begins 2025-12-11T00:00Z, before deprecated (2026-01-15T00:00Z)',
    ],
    [
      'a single window longer than the time before the sunset',
      `[ { before_sunset: 1d, for: 25h, ${TOLD} } ]`,
      '«25h» error: a window of this length ends after the sunset (2027-01-15T00:00Z)',
    ],
    [
      'a repetition without any window',
      `[ { cron: "0 0 30 2 *", zone: UTC, for: 1h, ${TOLD} } ]`,
      `«{ cron: "0 0 30 2 *", zone: UTC, for: 1h, ${TOLD} }» error: this brownout has no window between the deprecation and the sunset`,
    ],
    [
      'two windows at once',
      `[ { from: 2027-01-05, for: 2h, ${TOLD} }, { from: 2027-01-05T01:00:00Z, for: 2h, ${TOLD} } ]`,
      `«{ from: 2027-01-05T01:00:00Z, for: 2h, ${TOLD} }» error: the window at 2027-01-05T01:00Z begins before the window at 2027-01-05T00:00Z ends`,
    ],
    [
      'a repetition faster than its windows',
      `[ { before_sunset: 2d, cron: "0 * * * *", zone: UTC, for: 90m, ${TOLD} } ]`,
      `«{ before_sunset: 2d, cron: "0 * * * *", zone: UTC, for: 90m, ${TOLD} }» error: the window at 2027-01-13T01:00Z begins before the window at 2027-01-13T00:00Z ends`,
    ],
    [
      'more than 500 windows',
      `[ { cron: "* * * * *", zone: UTC, for: 30s, announced: 2025-06-01 } ]`,
      '«brownouts» error: more than 500 windows: write fewer windows, or an earlier sunset',
    ],
  ])('%s', async (_title, brownouts, expected) => expect(await said(brownouts)).toEqual([expected]));

  it('hundreds of repetitions are too many windows, and the check stays fast', async () => {
    const minutely = `{ cron: "* * * * *", zone: UTC, for: 30s, announced: 2025-12-01 }`;
    const begun = threadMs();
    expect(await said(`[ ${Array(500).fill(minutely).join(', ')} ]`)).toEqual([
      expect.stringContaining('more than 500 windows'),
    ]);
    expect(threadMs() - begun).toBeLessThan(4_000);
  });

  const eachOperation = (rule: (index: number) => string) => {
    const lists = Array.from({ length: 100 }, (_, i) => `GET /o${i}: { brownouts: [ ${rule(i)} ] }`);
    return policy(`[ ${dated} ], operations: { ${lists.join(', ')} }`);
  };
  const dated = `{ from: 2027-01-05, for: 1h, ${TOLD} }`;

  it('a hundred operations with the same list cost no more than one', async () => {
    const minutely = eachOperation(() => '{ cron: "* * * * *", zone: UTC, for: 30s, announced: 2025-12-01 }');
    await using files = await workspace({ 'policies/orders.yaml': minutely });
    const begun = threadMs();
    const problems = await files.problems();
    expect(threadMs() - begun).toBeLessThan(4_000);
    expect(problems).toHaveLength(100);
    expect(problems[99]).toContain('more than 500 windows');
  });

  it('different lists are expanded up to a limit per file, even with the rules switched off', async () => {
    const busy = eachOperation(
      (i) => `{ cron: "${i % 60} * * * *", zone: UTC, for: ${i + 1}s, announced: 2025-12-01 }`,
    );
    await using files = await workspace({
      'policies/orders.yaml': `${busy}rules: { brownout-windows: off, brownout-announcement: off }\n`,
    });
    const begun = threadMs();
    expect(await files.problems()).toEqual([
      expect.stringMatching(
        /«brownouts» error: with this list, the file has more than 2500 different brownout windows \(write fewer windows, or give operations that pause together the same list\)$/,
      ),
    ]);
    expect(threadMs() - begun).toBeLessThan(5_000);
  });

  it('brownouts need a sunset', async () => {
    await using files = await workspace({
      'policies/orders.yaml': policy(`[ { from: 2027-01-05, for: 1h, ${TOLD} } ]`).replace(
        'sunset: 2027-01-15, ',
        '',
      ),
    });
    expect(await files.problems()).toEqual([
      'policies/orders.yaml:9 «brownouts» error: brownouts need sunset: their windows lie between deprecation and sunset',
    ]);
  });

  it('a malformed sunset gets one finding', async () => {
    await using files = await workspace({
      'policies/orders.yaml': policy(`[ { from: 2027-01-05, for: 1h, ${TOLD} } ]`).replace(
        '2027-01-15',
        '2027-02-30',
      ),
    });
    expect(await files.problems()).toEqual([expect.stringContaining('not a calendar date')]);
  });

  it('the extended sunset counts', async () => {
    const window = '[ { from: 2027-03-01, for: 1h, announced: 2026-06-01 } ]';
    const text = policy(window);
    const extended = text.replace(
      'sunset: 2027-01-15,',
      'sunset: 2027-01-15, extended: [ { to: 2027-04-15, announced: 2026-10-10 } ],',
    );
    await using files = await workspace({ 'policies/orders.yaml': extended });
    expect(await files.problems()).toEqual([]);
    expect(await said(window)).toEqual([expect.stringContaining('ends after the sunset')]);
  });

  it('windows of an operation lie between its own dates', async () => {
    const operation = (from: string) =>
      policy(`[ { from: 2027-01-05, for: 1h, ${TOLD} } ]`).replace(
        'successor: v2,',
        `successor: v2, operations: { GET /search: { sunset: 2026-12-24, brownouts: [ { from: ${from}, for: 1h, ${TOLD} } ] } },`,
      );
    await using files = await workspace({ 'policies/orders.yaml': operation('2026-12-23') });
    expect((await files.load()).problems.filter(({ rule }) => rule.startsWith('brownout'))).toEqual([]);
    await files.write('policies/orders.yaml', operation('2026-12-24'));
    const found = (await files.load()).problems.filter(({ rule }) => rule.startsWith('brownout'));
    expect(found.map(({ message }) => message)).toEqual([
      'a window until 2026-12-24T01:00Z ends after the sunset (2026-12-24T00:00Z)',
    ]);
  });
});

describe('brownout-announcement', () => {
  it('thirteen days are refused, and the hint names the last valid day', async () => {
    expect(await said('[ { from: 2027-01-05, for: 1h, announced: 2026-12-23 } ]')).toEqual([
      '«2026-12-23» error: announced less than 14 days before the first window (2027-01-05T00:00Z) (announced 2026-12-22 or earlier)',
    ]);
  });

  it('the first window counts, not the first day of the repetition', async () => {
    const from = (day: string) => `[ { ${weekly}, from: ${day}, announced: 2026-12-20 } ]`;
    expect(await said(from('2026-12-30'))).toEqual([]);
    expect(await said(from('2026-12-29'))).toHaveLength(1);
  });

  it('each rule of a list is checked', async () => {
    const late = '{ before_sunset: 7d, for: 1h, announced: 2027-01-01 }';
    expect(await said(`[ { before_sunset: 30d, for: 1h, ${TOLD} }, ${late} ]`)).toEqual([
      expect.stringMatching(/^«2027-01-01» error: announced less than 14 days/),
    ]);
  });

  it('both rules can be switched', async () => {
    const late =
      '[ { from: 2027-01-05, for: 1h, announced: 2027-01-04 }, { from: 2027-02-05, for: 1h, announced: 2026-06-01 } ]';
    expect(await said(late, 'rules: { brownout-announcement: warning, brownout-windows: off }')).toEqual([
      expect.stringMatching(/^«2027-01-04» warning: announced less than 14 days/),
    ]);
  });
});
