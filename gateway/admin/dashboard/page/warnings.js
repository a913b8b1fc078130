// What nobody may miss: above every page, each version that goes and is still called, the most urgent first.
// From the versions and what the ledger has of them.
import { h } from './elements.js';
import { addressOf, counted, date, daysTo, nameOf } from './words.js';

const NEAR_DAYS = 30;
const MOST = 4;

/**
 * @param {{ now: string, apis: readonly any[] }} standing
 * @param {{ versions?: readonly any[], recording: boolean } | undefined} usage
 */
export function warnings({ now, apis }, usage) {
  const all = apis
    .flatMap(({ versions }) => versions)
    .filter(({ stage }) => stage === 'deprecated')
    .map((version) => warningOf(version, usage, now))
    .sort((one, other) => other.urgency - one.urgency || one.days - other.days);
  const rest = all.length - MOST;
  return [
    ...all.slice(0, MOST).map(({ node }) => node),
    rest > 0 &&
      h(
        'p',
        { class: 'warning calm' },
        h('a', { href: '/dashboard/#deprecated' }, `${rest} more deprecated`),
      ),
  ];
}

/**
 * @param {any} version
 * @param {{ versions?: readonly any[], recording: boolean } | undefined} usage
 * @param {string} now
 */
function warningOf(version, usage, now) {
  const { sunset, brownoutUntil, paused, held } = version;
  const use = usage?.versions?.find((each) => each.api === version.api && each.version === version.version);
  const days = sunset === null ? Number.POSITIVE_INFINITY : daysTo(sunset, now);
  const called = (use?.calls ?? 0) > 0;
  const urgency = brownoutUntil !== null ? 3 : called && days <= NEAR_DAYS ? 2 : called ? 1 : 0;
  const kind = ['calm', 'near', 'bad', 'bad'][urgency];
  const end =
    sunset === null
      ? 'is deprecated and has no sunset yet'
      : `ends on ${date(sunset)}, ${days < 1 ? 'within a day' : `in ${counted(days, 'day')}`}`;
  const node = h(
    'p',
    { class: `warning ${kind}`, 'data-key': nameOf(version) },
    h('strong', {}, h('a', { href: addressOf(version) }, nameOf(version)), ` ${end}.`),
    ` ${callersWords(use, usage)}`,
    brownoutUntil !== null && ` A brownout refuses its calls until ${date(brownoutUntil)}.`,
    paused && ' An operator has paused its brownouts and its end.',
    held && ' Its guard holds the end.',
  );
  return { urgency, days, node };
}

/**
 * @param {any} use
 * @param {{ recording: boolean } | undefined} usage
 */
function callersWords(use, usage) {
  if (usage === undefined) return '';
  if (!usage.recording) return 'Who calls it is not recorded.';
  if (use === undefined || use.calls === 0) return 'Nobody has called it in 30 days.';
  const verb = use.consumers === 1 ? 'calls' : 'call';
  return `${counted(use.consumers, 'consumer')} still ${verb} it: ${counted(use.calls, 'call')} in 30 days.`;
}
