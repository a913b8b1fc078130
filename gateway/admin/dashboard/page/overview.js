// The first page: every version on one axis of time, how much of the traffic is for what goes, and who still calls it.
// Shown by dashboard.js, which asks every few seconds.
import { ask } from './ask.js';
import { h } from './elements.js';
import { badge, section, stageBadge, table, tile } from './parts.js';
import { timeline } from './timeline.js';
import { addressOf, ago, away, counted, daysTo, nameOf, number, percent, trendWords } from './words.js';

export const title = 'Overview';

/** What was counted when the page looked before: the difference is what goes on now. */
let before = /** @type {{ at: number, requests: number, deprecated: number } | undefined} */ (undefined);

/** @param {import('./dashboard.js').Look} look */
export async function look({ standing, usage }) {
  const [traffic, ready, reload] = await Promise.all([ask('/-/traffic'), ask('/-/ready'), ask('/-/reload')]);
  return { standing, usage, traffic, ready, last: reload.last, rate: rateOf(traffic) };
}

/** @param {any} seen */
export function view({ standing, usage, traffic, ready, last, rate }) {
  const { now, apis } = standing;
  const versions = apis.flatMap((/** @type {any} */ api) => api.versions);
  return [
    h('h1', {}, 'Overview'),
    h(
      'div',
      { class: 'tiles' },
      shareTile(traffic, rate),
      nextTile(versions, now),
      callersTile(usage),
      stateTile(ready, last),
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
  const links = rest.flatMap((version, index) => [
    index > 0 && ', ',
    h('a', { href: addressOf(version) }, nameOf(version)),
  ]);
  return rest.length > 0 && h('p', { class: 'note' }, 'Without dates: ', ...links, '.');
}

/** @param {any} traffic @param {{ perSecond: number, share: number | undefined } | undefined} rate */
function shareTile({ share, requests, deprecated }, rate) {
  const going =
    rate === undefined
      ? ''
      : ` · now ${rate.perSecond.toFixed(1)}/s${rate.share === undefined ? '' : `, ${percent(rate.share)} deprecated`}`;
  const note =
    share === null ? 'no request yet' : `${number(deprecated)} of ${counted(requests, 'request')}${going}`;
  return tile(
    'Deprecated share',
    share === null ? '–' : percent(share),
    note,
    share !== null && share > 0 ? 'near' : '',
  );
}

/** @param {readonly any[]} versions @param {string} now */
function nextTile(versions, now) {
  const [next] = versions
    .filter(({ stage, sunset }) => sunset !== null && (stage === 'deprecated' || stage === 'active'))
    .sort((one, other) => Date.parse(one.sunset) - Date.parse(other.sunset));
  if (next === undefined) return tile('Next end', '–', 'no version has a sunset to come');
  const days = daysTo(next.sunset, now);
  return tile(
    'Next end',
    counted(days, 'day'),
    h('a', { href: addressOf(next) }, nameOf(next)),
    days <= 30 ? 'bad' : '',
  );
}

/** @param {any} usage */
function callersTile(usage) {
  if (usage === undefined) return tile('Still called', '…', 'the ledger is being read');
  const called = (usage.versions ?? []).filter(
    (/** @type {any} */ { verdict, calls }) => verdict === 'called' && calls > 0,
  );
  const calls = called.reduce((/** @type {number} */ sum, /** @type {any} */ each) => sum + each.calls, 0);
  if (!usage.recording) return tile('Still called', '–', 'the ledger is off');
  return tile(
    'Still called',
    counted(called.length, 'version'),
    `deprecated, ${counted(calls, 'call')} in 30 days`,
    called.length > 0 ? 'near' : 'good',
  );
}

/** @param {any} ready @param {any} last */
function stateTile({ status, store, plan }, last) {
  const isWell =
    status === 'ready' &&
    store.state === 'up' &&
    (last === null || !['rejected', 'failed'].includes(last.outcome));
  const trouble =
    store.state === 'up'
      ? isWell
        ? 'ready'
        : last?.outcome === 'rejected'
          ? 'files rejected'
          : status
      : 'store away';
  const note = h(
    'a',
    { href: '/dashboard/configuration' },
    `${store.kind} store ${store.state}, plan ${String(plan).slice(0, 8)}`,
  );
  return tile('Gateway', trouble, note, isWell ? 'good' : 'bad');
}

/** @param {readonly any[]} versions @param {any} usage @param {string} now */
function goingTable(versions, usage, now) {
  const used = usage?.versions ?? [];
  const going = versions.filter(({ stage }) => stage === 'deprecated');
  const rows = going.map((version) => {
    const use = used.find(
      (/** @type {any} */ each) => each.api === version.api && each.version === version.version,
    );
    return [
      h('a', { href: addressOf(version) }, nameOf(version)),
      version.sunset === null ? 'no sunset' : away(version.sunset, now),
      number(use?.consumers ?? 0),
      number(use?.calls ?? 0),
      use === undefined ? '–' : trendWords(use.trend),
      use?.lastCall == null ? 'never' : ago(use.lastCall, now),
      use === undefined ? '' : verdictBadge(use),
    ];
  });
  const heads = ['Version', 'Ends', 'Consumers', 'Calls in 30 days', 'Week on week', 'Last call', 'Verdict'];
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
      h('a', { href: addressOf(each) }, nameOf(version ?? each)),
      stageBadge(version?.stage ?? null),
      number(each.requests),
      percent(requests === 0 ? 0 : each.requests / requests),
      number(each.errors),
    ];
  });
  const note =
    unresolved > 0 &&
    h('p', { class: 'note' }, `${counted(unresolved, 'request')} more named no version that there is.`);
  return h(
    'div',
    {},
    table(
      'Requests by version',
      ['Version', 'Stage', 'Requests', 'Share', '5xx'],
      rows,
      'No request has come yet.',
    ),
    note,
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
  return {
    perSecond: more / seconds,
    share: more === 0 ? undefined : (deprecated - since.deprecated) / more,
  };
}
