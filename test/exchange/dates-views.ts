// Parses what each view of a plan shows for a version or operation at an instant.
import { eventOf } from '../../gateway/announce/event.ts';
import { noticesAt } from '../../gateway/announce/notices.ts';
import { explain } from '../../gateway/cli/explain/explain.ts';
import { type JudgedRequest, judge } from '../../gateway/cli/judge.ts';
import { assumePins } from '../../gateway/cli/known-account.ts';
import { timelineJson } from '../../gateway/cli/timeline/timeline-json.ts';
import { timelineText } from '../../gateway/cli/timeline/timeline-text.ts';
import { longestReuse } from '../../gateway/exchange/answers/freshness.ts';
import { apiStages, versionStates } from '../../gateway/exchange/version-states.ts';
import type { LoadedPlan } from '../../gateway/plan/load.ts';
import { describedVersion } from '../../gateway/plan/openapi/described-lifecycle.ts';
import { readDescription } from '../../gateway/plan/openapi/description.ts';
import { writeLifecycle } from '../../gateway/plan/openapi/write.ts';
import type { GatewayPlan } from '../../gateway/plan/plan.ts';
import type { PolicyFile } from '../../gateway/sections/policy-file.ts';
import { versionRows } from '../../gateway/telemetry/version-rows.ts';
import { view } from '../support/exchange-samples.ts';

const CONSUMER = { id: 'acme', mayLabelMetrics: true, isNamed: true, scopes: new Set<string>() };
const SUCCESSOR = '/api/v2/orders/7';
export const PATHS = { version: '/api/v1/orders/7', operation: '/api/v1/orders/old' } as const;

export interface Looking {
  readonly whole: LoadedPlan;
  readonly file: PolicyFile;
  readonly plan: GatewayPlan;
  readonly now: number;
}

export function judgeAt(
  { whole, plan, now }: Looking,
  path: string,
  accept?: string,
): Promise<JudgedRequest> {
  const { settings } = whole;
  const headers = accept === undefined ? {} : { accept };
  const known = {
    plan,
    settings,
    now,
    overrides: [],
    consumer: CONSUMER,
    account: {},
    pins: assumePins({}, now),
  };
  return judge({ kind: 'view', view: view({ path, headers }) }, known);
}

export async function answer(looking: Looking, path: string) {
  const { facts, ending } = await judgeAt(looking, path);
  const headers = ending.kind === 'answered' ? ending.answer.headers : ending.headers;
  const limits = ending.kind === 'forwarded' ? facts.quotas?.map(({ limit }) => limit.name) : undefined;
  return {
    outcome: ending.kind === 'answered' ? ending.reason : 'forwarded',
    stage: headers.get('x-api-lifecycle-stage'),
    deprecation: headers.get('deprecation'),
    sunset: headers.get('sunset'),
    warns: headers.get('warning') !== undefined,
    lowered: limits && limits[0] === 'deprecated',
    body: ending.kind === 'answered' ? String(ending.answer.body) : '',
    freshUntil: looking.now + longestReuse({ start: facts, decision: facts }) * 1_000,
  };
}

/** Whether responses of the next version link v1 as predecessor. */
export async function predecessor(looking: Looking): Promise<boolean> {
  const { ending } = await judgeAt(looking, SUCCESSOR);
  const headers = ending.kind === 'answered' ? ending.answer.headers : ending.headers;
  return String(headers.get('link')).includes('predecessor-version');
}

/** Undefined if there is no such page. */
async function published(looking: Looking, path: string, accept?: string) {
  const { ending } = await judgeAt(looking, path, accept);
  if (ending.kind !== 'answered') throw new Error('a page is answered');
  if (ending.reason === 'route_unknown') return undefined;
  const [, seconds = '0'] = /max-age=(\d+)/.exec(String(ending.answer.headers.get('cache-control'))) ?? [];
  return { text: String(ending.answer.body), freshUntil: looking.now + Number(seconds) * 1_000 };
}

const LIFECYCLE = '/.well-known/lifecycle/orders';

interface JsonEntry {
  readonly stage: string;
  readonly next_change?: { readonly at: string; readonly stage: string };
  readonly brownouts?: readonly { readonly from: string; readonly until: string }[];
  readonly [date: string]: unknown;
}

export async function json(looking: Looking) {
  const page = await published(looking, LIFECYCLE);
  if (page === undefined) return undefined;
  const { stage, versions, announcements } = JSON.parse(page.text) as {
    stage: string;
    announcements: { at: string; updated?: string; title: string }[];
    versions: (JsonEntry & { version: string; operations?: (JsonEntry & { operation: string })[] })[];
  };
  const version = versions.find((each) => each.version === 'v1');
  const operation = version?.operations?.find((each) => each.operation === 'GET /old');
  return {
    stage,
    version: version && datesOf(version),
    operation: operation && datesOf(operation),
    freshUntil: page.freshUntil,
    changelog: changelogOf(announcements.map(({ title, at, updated = at }) => [title, updated])),
  };
}

/** The title of each entry, and the day of its last change. */
function changelogOf(entries: readonly (readonly [title: string, changed: string])[]): readonly string[] {
  const ours = entries.filter(([title]) => title.startsWith('orders v1'));
  return ours.map(([title, changed]) => `${title} ${changed.replace('T00:00:00Z', '')}`).sort();
}

function datesOf({ stage, deprecated, sunset, retired, next_change: next, ...entry }: JsonEntry) {
  const { successor, migration_guide: guide, brownouts = [] } = entry;
  return {
    stage,
    deprecated,
    sunset,
    retired,
    next: next && `${next.stage} ${next.at}`,
    successor,
    guide,
    brownouts: brownouts.map(({ from, until }) => `${from} ${until}`),
  };
}

/** Each row: stage, dates, the next stage, the start of the next brownout. Also the changelog. */
export async function html(looking: Looking) {
  const page = await published(looking, LIFECYCLE, 'text/html');
  if (page === undefined) return undefined;
  const items = page.text.matchAll(/<li><time datetime="(.*?)">.*?<strong>(.*?)<\/strong>(.*)/g);
  const changelog = changelogOf(
    [...items].map(([, at = '', title = '', more = '']) => {
      const [, updated = at] = /updated <time datetime="(.*?)"/.exec(more) ?? [];
      return [title, updated];
    }),
  );
  const rows = [...page.text.matchAll(/<tr><th scope="row">(.*?)<\/th>(.*?)<\/tr>/g)];
  const byName = new Map(
    rows.map(([, name = '', cells = '']) => {
      const [stage = '', , deprecated = '', sunset = '', retired = '', next = '', advice = ''] = [
        ...cells.matchAll(/<td>(.*?)<\/td>/g),
      ].map(([, cell]) => cell ?? '');
      const instant = (text: string) => /datetime="(.*?)"/.exec(text)?.[1];
      const [, word] = /^(\w+)/.exec(next) ?? [];
      return [
        name,
        {
          stage: stage.replace(/<.*?>/g, '').toLowerCase(),
          deprecated: instant(deprecated),
          sunset: instant(sunset),
          retired: instant(retired),
          next: word && `${word.toLowerCase()} ${instant(next)}`,
          successor: /Move to (\w+)/.exec(advice)?.[1],
          guide: /href="([^"]*)">Migration guide/.exec(advice)?.[1],
          brownout: instant(/Next brownout: .*/.exec(advice)?.[0] ?? ''),
        },
      ];
    }),
  );
  return { rows: byName, changelog };
}

/** `v1 sunset 2027-01-01` for every event, in order. A brownout has an instant. */
export async function calendar(looking: Looking) {
  const page = await published(looking, `${LIFECYCLE}.ics`);
  if (page === undefined) return undefined;
  const events = page.text.replaceAll('\r\n ', '').split('BEGIN:VEVENT').slice(1);
  return events
    .map((event) => {
      const [, summary = ''] = /SUMMARY:(.*)\r/.exec(event) ?? [];
      const [, start = ''] = /DTSTART.*?:(.*)\r/.exec(event) ?? [];
      return `${summary.replace(/:.*$/, '')} ${start}`;
    })
    .filter((event) => event.startsWith('orders v1'))
    .sort();
}

export async function feed(looking: Looking) {
  const page = await published(looking, `${LIFECYCLE}.atom`);
  if (page === undefined) return undefined;
  const pattern = /<entry>.*?<title>(.*?)<\/title>\n<updated>(.*?)<\/updated>/gs;
  return changelogOf(
    [...page.text.matchAll(pattern)].map(([, title = '', updated = '']) => [title, updated]),
  );
}

export async function catalog(looking: Looking) {
  const page = await published(looking, '/.well-known/api-catalog');
  const { linkset } = JSON.parse(page?.text ?? '') as {
    linkset: { anchor: string; deprecation?: unknown }[];
  };
  const version = linkset.find(({ anchor }) => anchor.endsWith('/api/v1/orders'));
  return { listed: version !== undefined, deprecated: version?.deprecation !== undefined };
}

/** The stage and its dates. */
export async function explained({ whole, plan, now }: Looking, path: string) {
  const { text } = await explain(
    { ...whole, plan },
    {
      request: `GET https://api.example.com${path}`,
      headers: [],
      as: undefined,
      scopes: undefined,
      paused: undefined,
      format: 'json',
      now,
    },
  );
  const { decisions, next } = JSON.parse(text) as {
    decisions: { step: string; value: string; detail: string }[];
    next: { at: string; stage?: string; signals: string[] }[];
  };
  const stage = decisions.find(({ step }) => step === 'stage');
  const detail = stage?.detail.replace(/, (?:in [^,]*|just now|[^,]* ago)$/, '');
  return { stage: stage && `${stage.value}: ${detail}`, next: next.map(({ at }) => Date.parse(at)) };
}

export function timeline({ plan, now }: Looking): string | undefined {
  const text = timelineText(plan.apis, { now, columns: 120, colour: false });
  const lines = text.split('\n');
  const first = lines.findIndex((line) => line.startsWith('  v1'));
  if (first < 0) return undefined;
  const end = lines.findIndex((line, index) => index > first && !line.startsWith('      '));
  return lines
    .slice(first + 1, end)
    .join(' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** Stage and dates of the version and the operation. */
export function timelineDocument({ plan, now }: Looking) {
  const { versions } = JSON.parse(timelineJson(plan.apis, now)).apis[0];
  const of = ({ stage, deprecated, sunset, retired, forgotten }: JsonEntry) => ({
    ...{ stage, deprecated, sunset, retired, forgotten },
  });
  return { version: of(versions[0]), operation: of(versions[0].operations[0]) };
}

/** A description with older dates. The operation repeats the dates of its version. */
const DESCRIPTION = new TextEncoder().encode(`openapi: 3.1.0
info:
  title: Orders
  x-lifecycle:
    stage: stable
    deprecation: { announced: "2020-01-01", sunset: "2021-01-01" }
    migration-guide: https://docs.example.com/earlier
paths:
  /api/v1/orders/old:
    get: { x-lifecycle: { deprecation-date: "2020-01-01", sunset-date: "2021-01-01" } }
`);

/** The output of `sundial openapi`. */
export function described({ file, plan, now }: Looking) {
  const { versions } = file;
  const rules = plan.apiNamed('orders')?.versions.get('v1');
  const version = versions === 'none' ? undefined : versions.v1;
  if (rules === undefined || version === undefined) throw new Error('the sample has a version');
  const before = readDescription('orders.yaml', DESCRIPTION);
  const written = writeLifecycle(describedVersion(file, version, rules, { description: before, now }));
  if (written.kind !== 'text') throw new Error(`the description is ${written.kind}`);
  const { api, operations } = readDescription('orders.yaml', new TextEncoder().encode(written.text));
  const { stage, announced, sunset, guide } = api;
  const [old] = operations;
  return {
    version: {
      stage: stage?.value,
      announced: announced?.value,
      sunset: sunset?.value,
      guide: guide?.value,
    },
    operation: {
      flag: old?.flag?.value ?? false,
      deprecated: old?.deprecated?.value,
      sunset: old?.sunset?.value,
    },
  };
}

export function metrics({ plan, now }: Looking) {
  const moment = { now, overrides: [] };
  const rows = versionRows(
    () => versionStates(plan, moment),
    () => apiStages(plan, moment),
  );
  const samples = (name: string) => {
    const row = rows.find((each) => each.name === name);
    if (row === undefined) throw new Error(`no metric ${name}`);
    return [...row.samples()] as [string[], number][];
  };
  const value = (name: string) => samples(name).find(([[, version]]) => version === 'v1')?.[1];
  const info = samples('sundial_version_info').find(([[, version]]) => version === 'v1')?.[0];
  return {
    api: samples('sundial_api_info')[0]?.[0][1],
    stage: info?.[2],
    deprecated: value('sundial_version_deprecation_timestamp_seconds'),
    sunset: value('sundial_version_sunset_timestamp_seconds'),
    successor: info?.[3],
  };
}

/** The due events: type, operation, sunset, successor and guide. Countdowns have their own test. */
export function notices({ plan, now }: Looking) {
  const api = plan.apiNamed('orders');
  if (api === undefined) throw new Error('the sample has an API');
  const due = noticesAt(api, { now, overrides: [] }, [7]).due.filter(({ rules }) => rules.label === 'v1');
  return due
    .filter(({ milestone }) => milestone.kind !== 'approaching')
    .map((notice) => ({ ...eventOf(plan, notice), operation: notice.rules.operation }))
    .map(({ type, operation, data }) => {
      const successor = data.successor as { readonly version: string } | undefined;
      return [type, operation ?? '', data.sunset ?? '', successor?.version ?? '', data.guide ?? ''].join(' ');
    })
    .sort();
}
