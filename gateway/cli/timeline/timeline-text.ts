// The timeline for a terminal: a bar for each version, a mark for today, and the dates in words.
import type { ApiPlan, VersionRules } from '../../plan/plan.ts';
import { plural } from '../../plan/problems.ts';
import type { EpochMs } from '../../policy/contract.ts';
import { announcementsToCome } from '../../policy/lifecycle/announcement-changes.ts';
import { announcementOf, knownAt } from '../../policy/lifecycle/announcements.ts';
import { isUnversioned, stageOfApi } from '../../policy/lifecycle/api-life.ts';
import { announcementInWords } from '../../policy/lifecycle/milestone-words.ts';
import { phaseAt } from '../../policy/lifecycle/phases.ts';
import { retireWhenInWords } from '../../policy/lifecycle/retire-when.ts';
import { hasEnded } from '../../policy/lifecycle/retirement.ts';
import type { Schedule, Stage } from '../../policy/lifecycle/schedule.ts';
import { dateInWords } from '../../policy/notation.ts';

export interface TimelineLook {
  readonly now: EpochMs;
  readonly columns: number;
  readonly colour: boolean;
}

const MARKS: Readonly<Record<Stage, string>> = {
  planned: ' ',
  active: '━',
  deprecated: '▒',
  sunset: '·',
  retired: '·',
};
const COLOURS: Readonly<Record<Stage, string>> = {
  planned: '',
  active: '\u001b[32m',
  deprecated: '\u001b[33m',
  sunset: '\u001b[2m',
  retired: '\u001b[2m',
};
const OFF = '\u001b[0m';
const TODAY = '│';
const BROWNOUT = '╳';
const FREEZE = '┊';
const NARROWEST_AXIS = 24;
const WIDEST_AXIS = 120;

interface Axis {
  readonly from: EpochMs;
  readonly until: EpochMs;
  readonly width: number;
}

export function timelineText(apis: readonly ApiPlan[], { now, columns, colour }: TimelineLook): string {
  const all = apis.flatMap(({ versions }) => [...versions.values()]).map((version) => knownAt(version, now));
  const margin = Math.max(...all.map((version) => nameOf(version).length)) + 4;
  const width = Math.min(WIDEST_AXIS, Math.max(NARROWEST_AXIS, columns - margin));
  const axis = axisOf(all, now, width);
  const indent = ' '.repeat(margin);
  const lines = [indent + yearsOf(axis), `${indent}${todayLine(axis, now)}`];
  for (const { name, versions } of apis) {
    lines.push(
      `${name}, ${stageOfApi(
        [...versions.values()].map((version) => knownAt(version, now)),
        now,
      )}`,
    );
    for (const declared of versions.values()) {
      const version = knownAt(declared, now);
      const words = inWords(version, now) + laterInWords(declared, now);
      lines.push(`  ${nameOf(version)}`.padEnd(margin) + bar(version, axis, now, colour));
      lines.push(...wrap(words, width).map((line) => indent + line));
    }
  }
  const legend = [`${MARKS.active} active`, `${MARKS.deprecated} deprecated`, `${MARKS.retired} ended`];
  if (all.some(({ brownouts }) => brownouts !== undefined)) legend.push(`${BROWNOUT} brownout`);
  if (all.some(({ freeze }) => freeze !== undefined)) legend.push(`${FREEZE} closed to new consumers`);
  lines.push('', indent + legend.join('  '));
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

/** The bar of an API without versions has only the API's name above it. */
function nameOf({ label, schedule }: VersionRules): string {
  return isUnversioned(schedule) ? '' : label;
}

/** Whole years, so that the first column is a 1 January. */
function axisOf(versions: readonly VersionRules[], now: EpochMs, width: number): Axis {
  const phases = versions.flatMap(({ schedule, phasesOf }) => phasesOf(schedule));
  const instants = [now, ...phases.map(({ from }) => from)];
  const finite = instants.filter(Number.isFinite);
  return {
    from: newYear(yearOf(Math.min(...finite))),
    until: newYear(yearOf(Math.max(...finite)) + 1),
    width,
  };
}

function yearsOf(axis: Axis): string {
  let line = '';
  for (let year = yearOf(axis.from); newYear(year) < axis.until; year += 1) {
    const column = columnOf(newYear(year), axis);
    // Omits a year if the label of the year before it reaches its column.
    if (line === '' || column > line.length) line = line.padEnd(column) + String(year);
  }
  return line.slice(0, axis.width);
}

function todayLine(axis: Axis, now: EpochMs): string {
  const column = columnOf(now, axis);
  const date = dateInWords(now - (now % 86_400_000));
  return column + date.length + 2 <= axis.width
    ? `${' '.repeat(column)}${TODAY} ${date}`
    : `${date} ${TODAY}`.padStart(column + 1);
}

/** Follows the scheduled dates. A version without an upstream counts as retired, but keeps the bar of its dates. */
function bar(version: VersionRules, axis: Axis, now: EpochMs, colour: boolean): string {
  const { schedule, phasesOf, brownouts, freeze } = version;
  const phases = phasesOf(schedule);
  const today = columnOf(now, axis);
  const closed = freeze === undefined ? undefined : columnOf(freeze, axis);
  const dark = new Set(brownouts?.planned.map(({ from }) => columnOf(from, axis)));
  let line = '';
  let running: Stage = 'planned';
  for (let column = 0; column < axis.width; column += 1) {
    const { stage } = phaseAt(phases, instantOf(column, axis));
    if (colour && stage !== running) line += OFF + COLOURS[stage];
    running = stage;
    const mark = column === closed ? FREEZE : dark.has(column) ? BROWNOUT : MARKS[stage];
    line += column === today ? TODAY : mark;
  }
  return colour ? `${line}${OFF}` : line;
}

function inWords(version: VersionRules, now: EpochMs): string {
  const { schedule, phases, brownouts, upstream, freeze, retireWhen } = version;
  const phase = phaseAt(phases, now);
  const ended = hasEnded(phase);
  const early = ended && upstream === undefined && (schedule.sunset ?? now) > now;
  const words = [early ? `${phase.stage} without an upstream` : phase.stage, ...datesOf(schedule, now)];
  if (freeze !== undefined && !ended)
    words.push(`closed to new consumers ${freeze > now ? 'from' : 'since'} ${dateInWords(freeze)}`);
  const windows = (ended ? undefined : brownouts?.windows(now, Number.POSITIVE_INFINITY)) ?? [];
  const [next] = windows;
  if (next !== undefined) words.push(`${plural(windows.length, 'brownout')} from ${dateInWords(next.from)}`);
  const { after } = schedule;
  if (schedule.sunset !== undefined)
    words.push(after.kind === 'gone' ? 'then 410' : `then a redirect to ${after.to}`);
  if (retireWhen?.onExceed === 'hold' && !ended)
    words.push(`held for at most 90 days unless ${retireWhenInWords(retireWhen)}`);
  return words.join(', ');
}

/** Dates of the file that are not announced yet. */
function laterInWords(declared: VersionRules, now: EpochMs): string {
  const later = announcementsToCome([declared], now).map((announcement) => {
    const { operation } = announcement.life;
    return `${operation === undefined ? '' : `${operation} `}${announcementInWords(announcement)}`;
  });
  return later.length === 0 ? '' : `; not announced yet: ${later.join(', ')}`;
}

function datesOf(schedule: Schedule, now: EpochMs): readonly string[] {
  const { released, deprecated, sunset, retired, forgotten } = schedule;
  const dates = Number.isFinite(released) ? [`released ${dateInWords(released)}`] : [];
  if (deprecated !== undefined) dates.push(`deprecated ${dateInWords(deprecated)}`);
  if (sunset !== undefined) {
    const months = noticeMonths(schedule);
    const notice = months === undefined ? '' : ` (${plural(months, 'month')} of notice)`;
    const left = sunset > now ? ` in ${plural(Math.floor((sunset - now) / 86_400_000), 'day')}` : '';
    dates.push(`sunset ${dateInWords(sunset)}${left}${notice}`);
  }
  if (retired !== undefined && retired !== sunset) dates.push(`retired ${dateInWords(retired)}`);
  if (forgotten !== undefined) dates.push(`forgotten ${dateInWords(forgotten)}`);
  return dates;
}

/** Whole calendar months in UTC from announcement to sunset. Undefined without a deprecation or a sunset. */
export function noticeMonths(schedule: Schedule): number | undefined {
  const from = announcementOf(schedule) ?? schedule.deprecated;
  if (from === undefined || schedule.sunset === undefined) return undefined;
  return utc(from).until(utc(schedule.sunset), { largestUnit: 'months' }).months;
}

function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

function columnOf(instant: EpochMs, { from, until, width }: Axis): number {
  return Math.floor(((instant - from) / (until - from)) * width);
}

/** The middle of a column, so that a stage shorter than half a column is not drawn longer than it is. */
function instantOf(column: number, { from, until, width }: Axis): EpochMs {
  return from + ((column + 0.5) / width) * (until - from);
}

function utc(instant: EpochMs): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO('UTC');
}

function yearOf(instant: EpochMs): number {
  return utc(instant).year;
}

function newYear(year: number): EpochMs {
  return Temporal.ZonedDateTime.from({ timeZone: 'UTC', year, month: 1, day: 1 }).epochMilliseconds;
}
