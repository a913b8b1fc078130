// A date is the same instant in every time zone, for every day of the calendar.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Workspace, workspace } from '../plan/workspace.ts';
import { explain } from '../support/file-commands.ts';

const ZONES = ['UTC', 'Pacific/Kiritimati', 'America/Los_Angeles', 'Asia/Kathmandu'];

const policy = (sunset: string) => `api: orders
base: /api/orders
resolve: [ { path: "/api/{version}/orders" } ]
access: public
upstreams: { v1: { targets: [http://127.0.0.1:4001] }, v2: { targets: [http://127.0.0.1:4001] } }
versions:
  v1: { released: 2024-01-01, deprecated: 2024-02-29, sunset: ${sunset}, successor: v2, guide: https://docs.example.com/v2 }
  v2: { released: 2024-02-29 }
`;

let files: Workspace;
const zone = process.env.TZ;
beforeAll(async () => {
  files = await workspace({ 'policies/orders.yaml': policy('2027-01-15') });
});
afterAll(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
  return files[Symbol.asyncDispose]();
});

interface Answer {
  readonly status: number;
  readonly sunset: string | undefined;
  readonly message: string | undefined;
}

async function answerAt(now: number): Promise<Answer> {
  const { text } = await explain(files, 'GET /api/v1/orders', { format: 'json', now });
  const { answer } = JSON.parse(text);
  return { status: answer.status, sunset: answer.headers.sunset, message: answer.body?.message };
}

describe.each([
  ['2027-01-15', Date.UTC(2027, 0, 15), 'Fri, 15 Jan 2027 00:00:00 GMT'],
  ['2028-02-29', Date.UTC(2028, 1, 29), 'Tue, 29 Feb 2028 00:00:00 GMT'],
  ['2027-01-15T23:59:59+14:00', Date.UTC(2027, 0, 15, 9, 59, 59), 'Fri, 15 Jan 2027 09:59:59 GMT'],
  ['2038-01-19T03:14:08Z', 2 ** 31 * 1000, 'Tue, 19 Jan 2038 03:14:08 GMT'],
  ['9999-12-31', Date.UTC(9999, 11, 31), 'Fri, 31 Dec 9999 00:00:00 GMT'],
])('a sunset of %s', (written, instant, field) => {
  it.each(ZONES)('is in the same second in %s', async (name) => {
    process.env.TZ = name;
    await files.write('policies/orders.yaml', policy(written));
    const before = await answerAt(instant - 1);
    expect(before).toMatchObject({ sunset: field });
    expect(before.status).not.toBe(410);
    const day = new Date(instant).toISOString().slice(0, 10);
    for (const now of [instant, instant + 1000])
      expect(await answerAt(now)).toMatchObject({
        status: 410,
        message: `API version v1 was retired on ${day}.`,
      });
  });
});

it('the time zones of this test differ', () => {
  const hours = ZONES.map((name) => {
    process.env.TZ = name;
    return new Date(Date.UTC(2027, 0, 15)).getHours();
  });
  expect(hours).toEqual([0, 14, 16, 5]);
});

it.each([
  '2027-02-29',
  '2026-11-31',
  '2027-01-15T23:59:60Z',
  '2027-01-15T24:00:00Z',
  '2027-01-15T00:00:00',
  '10000-01-01',
])('%s is not a date: it is refused with its position', async (written) => {
  await files.write('policies/orders.yaml', policy(written));
  const problems = await files.problems();
  expect(problems).toEqual([expect.stringMatching(/^policies\/orders\.yaml:7 «.*» error: /)]);
});
