// `sundial timeline`: the drawn axis, and a calendar that conforms to RFC 5545.
import { describe, expect, it } from 'vitest';
import type { TimelineOptions } from '../../../gateway/cli/timeline/timeline.ts';
import { type Workspace, workspace } from '../../plan/workspace.ts';
import { timeline } from '../../support/file-commands.ts';
import { ordersPolicy } from '../../support/orders-policy.ts';

const ORDERS = ordersPolicy(
  `  v0: { released: 2024-02-01, deprecated: 2025-01-01, sunset: 2026-02-01, after: { redirect: v2 }, guide: https://docs.example.com/v1 }
  v1:
    released: 2024-06-01
    deprecated: 2026-01-15
    sunset: 2027-01-15T10:30:00+02:00
    successor: v2
    guide: https://docs.example.com/v2
    reason: "amounts, and currencies; become integers: größer als zuvor \\\\ und für alle Währungen der Welt verständlich"
  v2: { released: 2026-01-15 }
`,
  { resolve: '[ { path: "/api/{version}/orders" }, { default: v2 } ]', access: 'public' },
);
const ECHO = `api: echo
base: /api/echo
access: public
upstreams: { echo: { targets: [http://127.0.0.1:4004] } }
versions: none
`;
const policies = { 'policies/orders.yaml': ORDERS, 'policies/echo.yaml': ECHO };

const drawn = (files: Workspace, options: Partial<TimelineOptions> = {}) =>
  timeline(files, { columns: 70, ...options });

describe('timeline as text', () => {
  it('draws each version as a bar with its dates, and today as a line through all bars', async () => {
    await using files = await workspace(policies);
    expect(await drawn(files)).toEqual({
      exitCode: 0,
      text: `      2024            2025            2026            2027
                                                    │ 2026-11-20
orders, active
  v0   ━━━━━━━━━━━━━━━▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒·············│·················
      retired, released 2024-02-01, deprecated 2025-01-01, sunset
      2026-02-01 (13 months of notice), then a redirect to v2
  v1         ━━━━━━━━━━━━━━━━━━━━━━━━━━▒▒▒▒▒▒▒▒▒▒▒▒▒│▒▒···············
      deprecated, released 2024-06-01, deprecated 2026-01-15, sunset
      2027-01-15T08:30:00Z in 56 days (12 months of notice), then 410
  v2                                   ━━━━━━━━━━━━━│━━━━━━━━━━━━━━━━━
      active, released 2026-01-15

      ━ active  ▒ deprecated  · ended
`,
    });
  });

  it('RET-11: draws a version without an upstream as retired, even on an earlier day', async () => {
    await using files = await workspace(policies);
    const { text } = await drawn(files, { now: Date.UTC(2026, 0, 2), api: 'orders' });
    expect(text).toContain('  v0   ━━━━━━━━━━━━━━━▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒│·');
    expect(text.replace(/\s+/g, ' ')).toContain('retired without an upstream, released 2024-02-01,');
  });

  it.each([40, 70, 100, 200])('fits into %d columns', async (columns) => {
    await using files = await workspace(policies);
    const { text } = await drawn(files, { columns });
    expect(Math.max(...text.split('\n').map((line) => [...line].length))).toBeLessThanOrEqual(columns);
  });

  it('colours stages only if requested', async () => {
    await using files = await workspace(policies);
    const esc = String.fromCharCode(27);
    expect((await drawn(files)).text).not.toContain(esc);
    const coloured = (await drawn(files, { colour: true })).text;
    expect(coloured).toContain(`${esc}[33m▒`);
    expect(coloured.replaceAll(new RegExp(`${esc}\\[\\d*m`, 'g'), '')).toBe((await drawn(files)).text);
  });

  it('moves today with the clock', async () => {
    await using files = await workspace(policies);
    const { text } = await drawn(files, { now: Date.UTC(2027, 5, 1) });
    expect(text).toContain('2027-06-01 │');
    expect(text).toMatch(/^ +retired, released 2024-06-01/m);
  });

  it('shows one API if requested, and exits with 2 if it is unknown or has no dates', async () => {
    await using files = await workspace(policies);
    expect(await drawn(files, { api: 'orders' })).toEqual(await drawn(files));
    for (const [api, said] of [
      ['echo', 'echo has no dates'],
      ['nowhere', 'no API with dates is called "nowhere": there is orders'],
      ['order', 'no API with dates is called "order": did you mean "orders"?'],
    ])
      expect(await drawn(files, { api })).toEqual({ exitCode: 2, text: `sundial: ${said}\n` });
  });

  it('exits with 2 if no API has dates', async () => {
    await using files = await workspace({ 'policies/echo.yaml': ECHO });
    for (const [api, said] of [
      [undefined, 'no API has dates'],
      ['echo', 'echo has no dates'],
      ['nowhere', 'no API with dates is called "nowhere": no API has dates'],
    ])
      expect(await drawn(files, { api })).toEqual({ exitCode: 2, text: `sundial: ${said}\n` });
  });

  it('prints the problems of invalid files', async () => {
    await using files = await workspace({
      'policies/orders.yaml': ORDERS.replace('default: v2', 'default: v3'),
    });
    expect(await drawn(files)).toMatchObject({ exitCode: 1, text: expect.stringContaining('"v3"') });
  });
});

describe('timeline as a calendar', () => {
  const calendar = async (options: Partial<TimelineOptions> = {}): Promise<string> => {
    await using files = await workspace(policies);
    const { exitCode, text } = await drawn(files, { format: 'ics', ...options });
    expect(exitCode).toBe(0);
    return text;
  };

  it('RFC 5545 §3.1: lines end with CRLF, have at most 75 octets and split no character', async () => {
    const text = await calendar();
    expect(text.endsWith('\r\n')).toBe(true);
    expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    const lines = text.split('\r\n');
    expect(Math.max(...lines.map((line) => Buffer.byteLength(line)))).toBeLessThanOrEqual(75);
    expect(lines.some((line) => line.startsWith(' '))).toBe(true);
    expect(unfold(text)).toContain(
      'DESCRIPTION:amounts\\, and currencies\\; become integers: größer als zuvor \\\\ und für alle Währungen der Welt verständlich\\nSuccessor: v2.\\nGuide: https://docs.example.com/v2',
    );
  });

  it('RFC 5545 §3.6: is one calendar, and each event has each required property once', async () => {
    const lines = unfold(await calendar());
    expect(lines.slice(0, 2)).toEqual(['BEGIN:VCALENDAR', 'VERSION:2.0']);
    expect(lines.at(-1)).toBe('END:VCALENDAR');
    expect(lines.filter((line) => line.startsWith('PRODID:'))).toHaveLength(1);
    const events = eventsOf(lines);
    expect(events).toHaveLength(7);
    for (const event of events) {
      expect(event.filter((line) => line === 'DTSTAMP:20261120T000000Z')).toHaveLength(1);
      for (const name of ['UID', 'DTSTART', 'SUMMARY'])
        expect(event.filter((line) => new RegExp(`^${name}[:;]`).test(line))).toHaveLength(1);
    }
  });

  it('has dates as days, and instants in UTC', async () => {
    const lines = unfold(await calendar());
    const starts = eventsOf(lines).map((event) => [
      event.find((line) => line.startsWith('SUMMARY:')),
      event.find((line) => line.startsWith('DTSTART')),
    ]);
    expect(starts).toContainEqual([
      'SUMMARY:orders v0 sunset: redirected to v2',
      'DTSTART;VALUE=DATE:20260201',
    ]);
    expect(starts).toContainEqual(['SUMMARY:orders v1 sunset: 410 Gone', 'DTSTART:20270115T083000Z']);
  });

  it('RFC 5545 §3.8.4.7: ids of events are unique, and stay when a date moves', async () => {
    const ids = (text: string) => unfold(text).filter((line) => line.startsWith('UID:'));
    const before = ids(await calendar());
    expect(new Set(before).size).toBe(before.length);
    await using moved = await workspace({
      'policies/orders.yaml': ORDERS.replace('deprecated: 2026-01-15', 'deprecated: 2026-01-10'),
    });
    expect(ids((await drawn(moved, { format: 'ics' })).text).sort()).toEqual([...before].sort());
  });
});

function unfold(text: string): readonly string[] {
  return text.replaceAll('\r\n ', '').trimEnd().split('\r\n');
}

function eventsOf(lines: readonly string[]): readonly (readonly string[])[] {
  const events: string[][] = [];
  for (const line of lines) {
    if (line === 'BEGIN:VEVENT') events.push([]);
    events.at(-1)?.push(line);
  }
  return events;
}
