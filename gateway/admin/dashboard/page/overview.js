// The first page: every version on one axis of time, how much of the traffic is for what goes, and who still calls it.
// Shown by dashboard.js, which asks every few seconds.
import { ask } from './ask.js';
import { h } from './elements.js';
import { badge, figures, note, section, stageBadge, table, versionLink } from './parts.js';
import { callersTile, nextTile, shareTile, stateTile } from './tiles.js';
import { timeline } from './timeline.js';
import { ago, away, counted, date, number, percent, trendWords } from './words.js';

export const title = 'Overview';

const LONGEST_NOW_S = 90;

/** What was counted when the page looked before: the difference is what goes on now. */
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
    section('All versions', timeline(versions.filter(isDated), now), undatedNote(versions)),
    h(
      'section',
      { id: 'deprecated', 'data-key': 'deprecated' },
      h('h2', {}, 'Deprecated, and who still calls it'),
      goingTable(versions, usage, now),
    ),
    section('Requests since this gateway started', trafficTable(traffic, versions)),
  ];
}

/** An API without versions may well go on as it is for good. @param {any} version */
function isDated({ released, deprecated, sunset, retired }) {
  return [released, deprecated, sunset, retired].some((each) => each !== null);
}

/** @param {readonly any[]} versions */
function undatedNote(versions) {
  const rest = versions.filter((version) => !isDated(version));
  const links = rest.flatMap((version, index) => [index > 0 && ', ', versionLink(version)]);
  return rest.length > 0 && note('Without dates: ', ...links, '.');
}

/** The first to end first. @param {readonly any[]} versions @param {any} usage @param {string} now */
function goingTable(versions, usage, now) {
  const used = usage?.versions ?? [];
  const end = (/** @type {any} */ { sunset }) =>
    sunset === null ? Number.POSITIVE_INFINITY : Date.parse(sunset);
  const going = versions
    .filter(({ stage }) => stage === 'deprecated')
    .toSorted((one, other) => end(one) - end(other) || 0);
  const rows = going.map((version) => {
    const use = used.find(
      (/** @type {any} */ each) => each.api === version.api && each.version === version.version,
    );
    return [
      versionLink(version),
      version.sunset === null ? 'no sunset' : `${date(version.sunset)}, ${away(version.sunset, now)}`,
      use === undefined ? '–' : number(use.consumers),
      use === undefined ? '–' : number(use.calls),
      use === undefined ? '–' : trendWords(use.trend),
      use === undefined ? '–' : use.lastCall === null ? 'never' : ago(use.lastCall, now),
      use === undefined ? '' : verdictBadge(use),
    ];
  });
  const heads = [
    'Version',
    'Ends',
    figures('Consumers'),
    figures('Calls in 30 days'),
    figures('Week on week'),
    'Last call',
    'Verdict',
  ];
  return table('Deprecated versions', heads, rows, 'Nothing is deprecated.');
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
  const rows = versions.map((/** @type {any} */ each) => {
    const version = standing.find(({ api, version: label }) => api === each.api && label === each.version);
    return [
      versionLink(version ?? each),
      stageBadge(version?.stage ?? null),
      number(each.requests),
      percent(requests === 0 ? 0 : each.requests / requests),
      number(each.errors),
    ];
  });
  return h(
    'div',
    {},
    table(
      'Requests by version',
      ['Version', 'Stage', figures('Requests'), figures('Share'), figures('5xx')],
      rows,
      'No request has come yet.',
    ),
    unresolved > 0 && note(`${counted(unresolved, 'request')} more named no version that there is.`),
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
  // Nobody looked for long: that was then.
  if (seconds > LONGEST_NOW_S) return undefined;
  return {
    perSecond: more / seconds,
    share: more === 0 ? undefined : (deprecated - since.deprecated) / more,
  };
}
