// Dates that are not announced yet, in `timeline` (text and JSON) and `check`.
import { describe, expect, it } from 'vitest';
import { runCheck } from '../../gateway/cli/check/check.ts';
import type { TimelineOptions } from '../../gateway/cli/timeline/timeline.ts';
import { NOW, type Workspace, workspace } from '../plan/workspace.ts';
import { timeline } from '../support/file-commands.ts';
import { ordersPolicy } from '../support/orders-policy.ts';

const ORDERS = ordersPolicy(
  `  v1:
    released: 2024-06-01
    announced: 2025-10-15
    deprecated: 2026-01-15
    sunset: 2027-01-15
    extended: [{ to: 2027-04-15, announced: 2026-12-10 }]
    retired: 2027-07-15
    forgotten: 2028-01-15
    successor: v2
    guide: https://docs.example.com/v2
    brownouts: [{ from: 2027-01-05T14:00:00Z, for: 1h, announced: 2026-12-01 }]
    operations:
      GET /old/{id}: { deprecated: 2025-12-01, sunset: 2026-12-15, successor: "v2 GET /{id}" }
  v2: { released: 2025-01-15, announced: 2027-01-01, deprecated: 2027-06-01, sunset: 2028-06-01, guide: https://docs.example.com/v3 }
  v3: { released: 2026-01-15 }
`,
  {
    resolve: '[ { path: "/api/{version}/orders" }, { default: v3 } ]',
    access: 'public',
  },
).replace('versions:', '  v3: { targets: [http://127.0.0.1:4003] }\nversions:');
const files = () => workspace({ 'policies/orders.yaml': ORDERS });

describe('timeline', () => {
  const words = async (options: Partial<TimelineOptions>) => {
    await using folder = await files();
    return (await timeline(folder, { columns: 200, ...options })).text.replaceAll(/\s+/g, ' ');
  };

  it('counts notice from the announcement, and lists dates that are not announced yet', async () => {
    expect(await words({})).toContain(
      'sunset 2027-01-15 in 56 days (15 months of notice), retired 2027-07-15, forgotten 2028-01-15, then 410; not announced yet: brownouts from 2027-01-05T14:00:00Z (announced 2026-12-01), extension to 2027-04-15 (announced 2026-12-10)',
    );
    expect(await words({})).toContain(
      'active, released 2025-01-15; not announced yet: deprecation from 2027-06-01, sunset 2028-06-01 (announced 2027-01-01)',
    );
    expect(await words({ now: Date.UTC(2026, 11, 10) })).toContain(
      'sunset 2027-04-15 in 126 days (18 months',
    );
  });

  it('prints JSON with the announced dates, and unannounced ones under not_announced', async () => {
    await using folder = await files();
    const { exitCode, text } = await timeline(folder, { format: 'json' });
    expect(exitCode).toBe(0);
    expect(JSON.parse(text)).toEqual({
      at: '2026-11-20T00:00:00Z',
      apis: [
        {
          api: 'orders',
          stage: 'active',
          versions: [
            {
              version: 'v1',
              stage: 'deprecated',
              released: '2024-06-01T00:00:00Z',
              announced: '2025-10-15T00:00:00Z',
              deprecated: '2026-01-15T00:00:00Z',
              sunset: '2027-01-15T00:00:00Z',
              retired: '2027-07-15T00:00:00Z',
              forgotten: '2028-01-15T00:00:00Z',
              notice_months: 15,
              successor: 'v2',
              after: 'gone',
              operations: [
                {
                  operation: 'GET /old/{id}',
                  stage: 'deprecated',
                  released: '2024-06-01T00:00:00Z',
                  deprecated: '2025-12-01T00:00:00Z',
                  sunset: '2026-12-15T00:00:00Z',
                  forgotten: '2028-01-15T00:00:00Z',
                  notice_months: 12,
                  successor: 'v2',
                  successor_operation: 'GET /{id}',
                  after: 'gone',
                },
              ],
              not_announced: [
                {
                  kind: 'brownouts',
                  announced: '2026-12-01T00:00:00Z',
                  from: '2027-01-05T14:00:00Z',
                  until: '2027-01-05T15:00:00Z',
                },
                { kind: 'extension', announced: '2026-12-10T00:00:00Z', to: '2027-04-15T00:00:00Z' },
              ],
            },
            {
              version: 'v2',
              stage: 'active',
              released: '2025-01-15T00:00:00Z',
              not_announced: [
                {
                  kind: 'deprecation',
                  announced: '2027-01-01T00:00:00Z',
                  deprecated: '2027-06-01T00:00:00Z',
                  sunset: '2028-06-01T00:00:00Z',
                },
              ],
            },
            { version: 'v3', stage: 'active', released: '2026-01-15T00:00:00Z' },
          ],
        },
      ],
    });
    const later = JSON.parse((await timeline(folder, { format: 'json', now: Date.UTC(2026, 11, 10) })).text)
      .apis[0].versions[0];
    expect(later).toMatchObject({
      sunset: '2027-04-15T00:00:00Z',
      extended: [{ to: '2027-04-15T00:00:00Z', announced: '2026-12-10T00:00:00Z' }],
      brownouts: [{ from: '2027-01-05T14:00:00Z', until: '2027-01-05T15:00:00Z' }],
    });
    expect(later).not.toHaveProperty('not_announced');
  });

  it('computes brownouts before the sunset from the sunset known at their announcement', async () => {
    const hanging = ORDERS.replace(
      /brownouts: .*/,
      'brownouts: [{ before_sunset: 10d, for: 1h, announced: 2026-12-01 }]',
    );
    await using folder = await workspace({ 'policies/orders.yaml': hanging });
    const [first] = JSON.parse((await timeline(folder, { format: 'json' })).text).apis[0].versions;
    expect(first.not_announced[0]).toEqual({
      kind: 'brownouts',
      announced: '2026-12-01T00:00:00Z',
      from: '2027-01-05T00:00:00Z',
      until: '2027-01-05T01:00:00Z',
    });
    const { text } = await timeline(folder, { columns: 200 });
    expect(text.replaceAll(/\s+/g, ' ')).toContain(
      'not announced yet: brownouts from 2027-01-05 (announced 2026-12-01), extension to 2027-04-15',
    );
  });

  it('shows a brownout announced before the deprecation as announced with the deprecation', async () => {
    const early = ORDERS.replace(
      'sunset: 2028-06-01,',
      '$& brownouts: [{ before_sunset: 10d, for: 1h, announced: 2026-12-20 }],',
    );
    await using folder = await workspace({ 'policies/orders.yaml': early });
    const [, second] = JSON.parse((await timeline(folder, { format: 'json' })).text).apis[0].versions;
    expect(
      second.not_announced.map(({ kind, announced }: Record<string, string>) => [kind, announced]),
    ).toEqual([
      ['deprecation', '2027-01-01T00:00:00Z'],
      ['brownouts', '2027-01-01T00:00:00Z'],
    ]);
  });

  it('LNK-2: prints a calendar with the successor of an operation', async () => {
    await using folder = await files();
    const { text } = await timeline(folder, { format: 'ics' });
    const events = text.replaceAll('\r\n ', '').split('BEGIN:VEVENT');
    const event = events.find((each) => each.includes('SUMMARY:orders v1 GET /old/{id} sunset'));
    expect(event).toContain('DESCRIPTION:Successor: v2 GET /{id}.\\n');
  });
});

describe('check', () => {
  const checked = async (folder: Workspace, now = NOW) =>
    runCheck({
      files: [],
      configFile: folder.configFile,
      cwd: folder.folder,
      environment: {},
      format: 'text',
      strict: false,
      colour: false,
      now,
    });

  it('reports each unannounced date as a notice at its line', async () => {
    await using folder = await files();
    const notices = async (now?: number) =>
      (await checked(folder, now)).text.split('\n').filter((line) => line.includes(': notice: '));
    const lines = ORDERS.split('\n');
    const line = (key: string) => lines.findIndex((each) => each.includes(key)) + 1;
    const told = (await notices()).map((each) => each.replace(/:\d+: notice/, ': notice'));
    expect(told).toEqual([
      `policies/orders.yaml:${line('brownouts')}: notice: orders v1, not announced yet: brownouts from 2027-01-05T14:00:00Z (announced 2026-12-01)`,
      `policies/orders.yaml:${line('extended')}: notice: orders v1, not announced yet: extension to 2027-04-15 (announced 2026-12-10)`,
      `policies/orders.yaml:${line('  v2: { released')}: notice: orders v2, not announced yet: deprecation from 2027-06-01, sunset 2028-06-01 (announced 2027-01-01)`,
    ]);
    expect(await notices(Date.UTC(2027, 0, 1))).toEqual([]);
  });
});
