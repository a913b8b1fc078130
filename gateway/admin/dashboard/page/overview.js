// The overview: a timeline of all versions, deprecated versions with their use, and requests by version.
import { ask } from './ask.js';
import { h } from './elements.js';
import { listing, listTable } from './listing.js';
import { badge, figures, note, section, stageBadge, versionLink } from './parts.js';
import { callersTile, nextTile, shareTile, stateTile } from './tiles.js';
import { timeline } from './timeline.js';
import { ago, away, counted, date, nameOf, number, percent, trendWords } from './words.js';

export const title = 'Overview';

const LONGEST_NOW_S = 90;
/** Few rows, because two tables are under the timeline. */
const SHORT_PAGE_ROWS = 10;

/** The counts of the previous poll, for the current rate. */
let before = /** @type {{ at: number, requests: number, deprecated: number } | undefined} */ (undefined);

/** @param {import('./dashboard.js').Look} look */
export async function look({ standing, usage, ledger }) {
  const [traffic, ready, reload, { upstreams }] = await Promise.all([
    ask('/-/traffic'),
    ask('/-/ready'),
    ask('/-/reload'),
    ask('/-/upstreams'),
  ]);
  return { standing, usage, ledger, traffic, ready, last: reload.last, upstreams, rate: rateOf(traffic) };
}

/** @param {any} seen */
export function view({ standing, usage, ledger, traffic, ready, last, upstreams, rate }) {
  const { now, apis } = standing;
  const versions = apis.flatMap((/** @type {any} */ api) => api.versions);
  return [
    h('h1', {}, 'Overview'),
    h(
      'div',
      { class: 'tiles' },
      shareTile(traffic, rate),
      nextTile(versions, now),
      callersTile(usage, ledger),
      stateTile(ready, last, upstreams),
    ),
    section('All versions', ...timelines(versions, now)),
    h(
      'section',
      { id: 'deprecated', 'data-key': 'deprecated' },
      h('h2', {}, 'Deprecated versions'),
      goingTable(versions, usage, now),
    ),
    section('Requests since this gateway started', trafficTable(traffic, versions)),
  ];
}

/** @param {readonly any[]} versions @param {string} now */
function timelines(versions, now) {
  const dated = versions.filter(isDated);
  if (dated.length === 0) return [h('p', { class: 'quiet' }, 'No version has dates.'), undatedNote(versions)];
  const { shown, found, bar, foot } = listing({
    ...{ key: '', name: 'versions', rows: dated, find: nameOf },
    filters: { Stage: ({ stage }) => stage },
    sorts: { Sunset: endOf },
  });
  return [bar, timeline(shown, found, now), foot, undatedNote(versions)];
}

/** @param {any} version */
function endOf({ sunset }) {
  return sunset === null ? null : Date.parse(sunset);
}

/** An API without versions may have no dates at all. @param {any} version */
function isDated({ released, deprecated, sunset, retired }) {
  return [released, deprecated, sunset, retired].some((each) => each !== null);
}

/** @param {readonly any[]} versions */
function undatedNote(versions) {
  const rest = versions.filter((version) => !isDated(version));
  const links = rest.flatMap((version, index) => [index > 0 && ', ', versionLink(version)]);
  return rest.length > 0 && note('Without dates: ', ...links, '.');
}

/** Sorted by sunset, the nearest first. @param {readonly any[]} versions @param {any} usage @param {string} now */
function goingTable(versions, usage, now) {
  const used = new Map((usage?.versions ?? []).map((/** @type {any} */ each) => [nameOf(each), each]));
  const going = versions
    .filter(({ stage }) => stage === 'deprecated')
    .toSorted((one, other) => (endOf(one) ?? Number.MAX_VALUE) - (endOf(other) ?? Number.MAX_VALUE))
    .map((version) => ({ version, use: used.get(nameOf(version)) }));
  const heads = [
    'Version',
    'Ends',
    figures('Consumers'),
    figures('Calls in 30 days'),
    figures('Week on week'),
    'Last call',
    'Verdict',
  ];
  return listTable({
    ...{ key: 'deprecated', name: 'deprecated versions', caption: 'Deprecated versions', heads, rows: going },
    size: SHORT_PAGE_ROWS,
    find: ({ version }) => nameOf(version),
    sorts: {
      Version: ({ version }) => nameOf(version),
      Ends: ({ version }) => endOf(version),
      Consumers: ({ use }) => use?.consumers ?? null,
      'Calls in 30 days': ({ use }) => use?.calls ?? null,
      'Last call': ({ use }) => use?.lastCall ?? null,
    },
    cells: ({ version, use }) => [
      versionLink(version),
      version.sunset === null ? 'no sunset' : `${date(version.sunset)}, ${away(version.sunset, now)}`,
      use === undefined ? '–' : number(use.consumers),
      use === undefined ? '–' : number(use.calls),
      use === undefined ? '–' : trendWords(use.trend),
      use === undefined ? '–' : use.lastCall === null ? 'none recorded' : ago(use.lastCall, now),
      use === undefined ? '' : verdictBadge(use),
    ],
    empty: 'No version is deprecated.',
  });
}

/** @param {any} use */
function verdictBadge({ verdict }) {
  /** @type {Record<string, [string, string]>} */
  const words = {
    called: ['near', 'still called'],
    unused: ['good', 'unused'],
    too_early: ['calm', 'too early to say'],
  };
  const [kind, text] = words[verdict] ?? ['calm', String(verdict)];
  return badge(kind, text);
}

/** @param {any} traffic @param {readonly any[]} standing */
function trafficTable({ versions, requests, unresolved }, standing) {
  const stages = new Map(standing.map((version) => [nameOf(version), version.stage]));
  const rows = versions.toSorted(
    (/** @type {any} */ one, /** @type {any} */ other) => other.requests - one.requests,
  );
  const heads = ['Version', 'Stage', figures('Requests'), figures('Share'), figures('5xx')];
  return h(
    'div',
    {},
    listTable({
      ...{ key: 'requests', name: 'versions', caption: 'Requests by version', heads, rows },
      size: SHORT_PAGE_ROWS,
      find: nameOf,
      filters: { Stage: (each) => stages.get(nameOf(each)) ?? '' },
      sorts: { Version: nameOf, Requests: (each) => each.requests, '5xx': (each) => each.errors },
      cells: (each) => [
        versionLink(each),
        stageBadge(stages.get(nameOf(each)) ?? null),
        number(each.requests),
        percent(requests === 0 ? 0 : each.requests / requests),
        number(each.errors),
      ],
      empty: 'No requests yet.',
    }),
    unresolved > 0 && note(`${counted(unresolved, 'more request')} matched no version.`),
  );
}

/** @param {{ requests: number, deprecated: number }} traffic */
function rateOf({ requests, deprecated }) {
  const at = performance.now();
  const since = before;
  before = { at, requests, deprecated };
  if (since === undefined || requests < since.requests) return undefined;
  const more = requests - since.requests;
  const seconds = (at - since.at) / 1000;
  // After a tab was hidden for long, the mean is not the current rate.
  if (seconds > LONGEST_NOW_S) return undefined;
  return {
    perSecond: more / seconds,
    share: more === 0 ? undefined : (deprecated - since.deprecated) / more,
  };
}
