// Commands show the names of variables, never their values. `explain` is exempt: it shows the target.
import { describe, expect, it } from 'vitest';
import { runCheck } from '../../gateway/cli/check/check.ts';
import { runConfigShow } from '../../gateway/cli/config/config-show.ts';
import { NOW, ORDERS, type Workspace, workspace } from '../plan/workspace.ts';
import { diff, timeline } from '../support/file-commands.ts';

const MARKER = /marker/i;
/** Valid texts that may come from a variable. Each contains the word "marker". */
const TEXTS: Readonly<Record<string, string>> = {
  HOST: 'marker-host.example',
  BASE: '/marker-base',
  HEADER: 'X-Marker-Version',
  QUERY: 'marker_query',
  IGNORED: 'marker_query[gte]',
  MEDIA_TYPE: 'application/vnd.marker.{version}+json',
  ORIGIN: 'https://marker-origin.example',
  CONTACT: 'marker@example.com',
  NOTE: 'marker of a note',
  VALUE: 'marker-value',
  REMOVED: 'X-Marker-Field',
  TARGET: 'http://marker-target.example:4001',
  UPSTREAM_HOST: 'marker-upstream.example',
  UPSTREAM_PATH: '/marker-path',
  HEALTH: '/marker-health',
  TOLD: 'X-Marker-Told',
  CALLER: 'X-Marker-Caller',
  ASKED: 'GET /marker-base/7',
};
const POLICY = `api: orders
host: "\${env:HOST}"
base: "\${env:BASE}"
resolve:
  - { header: "\${env:HEADER}" }
  - { query: "\${env:QUERY}", ignore: ["\${env:IGNORED}"] }
  - { media_type: "\${env:MEDIA_TYPE}" }
  - { default: v2 }
access: { identity: main, scopes: { read: [orders:read] } }
cors: { origins: ["\${env:ORIGIN}"] }
contacts: { acme: "\${env:CONTACT}" }
headers: { request: { set: { X-Tenant: "\${env:VALUE}" }, remove: ["\${env:REMOVED}"] } }
maintenance: { until: 2026-12-24, why: "\${env:NOTE}" }
upstreams:
  v1: { targets: ["\${env:TARGET}"], host: "\${env:UPSTREAM_HOST}", path: "\${env:UPSTREAM_PATH}", health: "\${env:HEALTH}" }
  v2: { targets: ["\${env:TARGET}"], version_as: { header: "\${env:TOLD}" }, identity_headers: { consumer: "\${env:CALLER}" } }
versions:
  v1:
    released: 2024-06-01
    deprecated: 2026-01-15
    sunset: 2027-01-15
    successor: v2
    guide: https://docs.example.com/v2
    extended: [{ to: 2027-04-15, announced: 2026-10-10, why: "\${env:NOTE}" }]
    maintenance: off
  v2: { released: 2026-01-15 }
expect: [{ request: "\${env:ASKED}", at: 2026-11-20, as: acme, status: 503 }]
`;
const changed = (from: string, to: string) =>
  Object.fromEntries(Object.entries(TEXTS).map(([name, value]) => [name, value.replace(from, to)]));
/** Variables of the second policy in a comparison. */
const SECOND = Object.fromEntries(
  Object.entries(changed('arker', 'arker2')).map(([name, value]) => [`SECOND_${name}`, value]),
);

const files = () =>
  workspace({
    'policies/orders.yaml': POLICY,
    'old.yaml': POLICY,
    'new.yaml': POLICY.replaceAll(`\${env:`, `\${env:SECOND_`),
  });

async function checked(made: Workspace, environment: Readonly<Record<string, string>>): Promise<string> {
  const said: string[] = [];
  for (const format of ['text', 'json', 'github'] as const) {
    const { text } = await runCheck({
      files: [],
      configFile: made.configFile,
      cwd: made.folder,
      format,
      strict: true,
      environment,
      now: NOW,
      colour: false,
    });
    said.push(text);
  }
  return said.join('\n');
}

const leaking = (text: string) => text.split('\n').filter((line) => MARKER.test(line));

describe('commands that compare or check conceal the values of variables', () => {
  it.each(['text', 'json'] as const)('in diff, timeline and config show, printed as %s', async (format) => {
    await using made = await files();
    const environment = { ...TEXTS, ...SECOND };
    const compared = (await diff(made, { environment, format })).text;
    expect(compared).toContain('[redacted] (from HEALTH)');
    expect(leaking(compared)).toEqual([]);
    expect(leaking((await timeline(made, { environment, format })).text)).toEqual([]);
    const { exitCode, stdout } = await runConfigShow({
      configFile: made.configFile,
      cwd: made.folder,
      now: NOW,
      api: undefined,
      defaults: true,
      origin: true,
      format,
      environment,
    });
    expect(exitCode).toBe(0);
    expect(leaking(stdout)).toEqual([]);
  });

  it.each(Object.keys(TEXTS))('in check, for a wrong value of %s', async (name) => {
    await using made = await files();
    for (const wrong of [`${TEXTS[name]} ü x`, `/a/../${TEXTS[name]}?#`, 'Marker', 'marker'.repeat(400)])
      expect(leaking(await checked(made, { ...TEXTS, [name]: wrong }))).toEqual([]);
  });

  it('in check, for a conflict of two files', async () => {
    await using made = await files();
    await made.write('policies/more.yaml', POLICY.replace('api: orders', 'api: more'));
    const said = await checked(made, TEXTS);
    expect(said).toContain('error');
    expect(leaking(said)).toEqual([]);
  });
});

it('diff shows dates from variables, because dates are no secrets', async () => {
  const policy = (name: string) => ORDERS.replace('sunset: 2027-01-15', `sunset: "\${env:${name}}"`);
  await using made = await workspace({ 'old.yaml': policy('DAY'), 'new.yaml': policy('SECOND_DAY') });
  const environment = { DAY: '2027-01-15', SECOND_DAY: '2027-03-15' };
  const { text } = await diff(made, { environment, format: 'text' });
  expect(text).toContain('2027-01-15');
  expect(text).toContain('2027-03-15');
});
