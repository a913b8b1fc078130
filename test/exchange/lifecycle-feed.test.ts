// RFC 4287 §4.2.6: feed entries have unique ids, because readers show only one entry per id.
import { expect, it } from 'vitest';
import { lifecycleFeed } from '../../gateway/exchange/publish/lifecycle-feed.ts';
import { assess } from '../../gateway/policy/lifecycle/assess.ts';
import { milestonesOf } from '../../gateway/policy/lifecycle/milestones.ts';
import { ORDERS, planOf } from '../plan/workspace.ts';

const BROWNOUTS = `    brownouts:
      - { from: "2027-01-05T14:00:00Z", for: 1h, announced: 2026-10-01 }
      - { before_sunset: 30d, cron: "0 14 * * tue", zone: Europe/Berlin, for: 1h, announced: 2026-10-01 }
      - { before_sunset: 1d, for: 12h, announced: 2026-10-01 }
`;
const POLICY = ORDERS.replace(
  / {2}v1: \{ released.*\n/,
  `  v1:
    released: 2024-06-01
    deprecated: 2026-01-15
    sunset: 2027-01-15
    extended:
      - { to: 2027-04-15, announced: 2026-10-01, why: acme }
      - { to: 2027-07-15, announced: 2026-10-01, why: globex }
    guide: https://docs.example.com/v2
    successor: v2
${BROWNOUTS}`,
);

function idsOf(lives: Parameters<typeof milestonesOf>[0]): readonly string[] {
  const options = {
    api: 'orders',
    page: 'https://api.example.com/x',
    feed: 'https://api.example.com/x.atom',
  };
  const feed = lifecycleFeed(milestonesOf(lives, Date.UTC(2026, 11, 1)), {
    ...options,
    now: 0,
    changedAt: ({ at }) => at,
  });
  return feed.match(/(?<=<id>tag:).*(?=<\/id>)/g) ?? [];
}

it('announcements of one day have different ids, which a pause does not change', async () => {
  const { apis } = await planOf(POLICY);
  const versions = [...(apis[0]?.versions.values() ?? [])];
  const ids = idsOf(versions);
  expect(ids.filter((id) => id.includes('brownouts'))).toHaveLength(3);
  expect(ids.filter((id) => id.includes('extension'))).toHaveLength(2);
  expect(new Set(ids).size).toBe(ids.length);

  const times = { from: Date.UTC(2027, 0, 1), until: Date.UTC(2027, 1, 1) };
  const pause = {
    ...times,
    kind: 'pause',
    id: 'p',
    api: 'orders',
    label: 'v1',
    author: 'a',
    reason: 'b',
  } as const;
  const paused = idsOf(versions.map((each) => assess(each, { now: times.from, overrides: [pause] })));
  expect(paused.filter((id) => id.includes('brownouts'))).toHaveLength(2);
  expect(paused.filter((id) => !ids.includes(id))).toEqual([]);
});
