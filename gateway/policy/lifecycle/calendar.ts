// Lists the dates and brownouts of versions and operations as events, and renders them as iCalendar text.
import { DAY_MS, type EpochMs } from '../contract.ts';
import { dayOf } from '../notation.ts';
import type { Label } from '../versioning/resolution.ts';
import { isUnversioned } from './api-life.ts';
import type { BrownoutCalendar } from './brownout-calendar.ts';
import type { Schedule } from './schedule.ts';

interface LifecycleEvent {
  readonly kind: 'released' | 'deprecated' | 'sunset' | 'retired' | 'brownout';
  readonly life: Life;
  readonly at: EpochMs;
  readonly until: EpochMs | undefined;
  /** Fraction of the callers that a brownout refuses. Undefined: all. */
  readonly share: number | undefined;
}

/** A version or operation as a source of events. The rules of a plan have this shape. */
export interface Life {
  readonly api: string;
  readonly label: Label;
  readonly operation: string | undefined;
  readonly schedule: Schedule;
  readonly brownouts: BrownoutCalendar | undefined;
}

export interface VersionLife extends Life {
  readonly operations: { readonly list: readonly Life[] } | undefined;
}

const DATES = ['released', 'deprecated', 'sunset', 'retired'] as const;
const MAX_BROWNOUTS = 100;

/**
 * Past and future events of the APIs in time order, without brownouts that ended before `now`. An operation adds only what
 * differs from its version.
 */
export function lifecycleEvents(
  apis: readonly { readonly versions: ReadonlyMap<Label, VersionLife> }[],
  now: EpochMs,
): readonly LifecycleEvent[] {
  return apis
    .flatMap(({ versions }) => [...versions.values()])
    .flatMap((version) => [
      ...eventsOf(version, undefined, now),
      ...(version.operations?.list ?? []).flatMap((operation) => eventsOf(operation, version, now)),
    ])
    .sort((one, other) => one.at - other.at);
}

/** Brownouts that have not ended at `now`, in time order, at most `MAX_BROWNOUTS`. */
export function brownoutsToCome({ brownouts }: Pick<Life, 'brownouts'>, now: EpochMs) {
  return brownouts?.windows(now, Number.POSITIVE_INFINITY).slice(0, MAX_BROWNOUTS) ?? [];
}

function eventsOf(life: Life, within: Life | undefined, now: EpochMs): readonly LifecycleEvent[] {
  const { schedule } = life;
  const dates = DATES.flatMap((kind): readonly LifecycleEvent[] => {
    const at = schedule[kind];
    // An API without versions has no release. Retirement at the sunset is no separate event.
    if (at === undefined || !Number.isFinite(at) || at === within?.schedule[kind]) return [];
    return kind === 'retired' && at === schedule.sunset
      ? []
      : [{ kind, life, at, until: undefined, share: undefined }];
  });
  if (life.brownouts === within?.brownouts) return dates;
  const windows = brownoutsToCome(life, now);
  return [
    ...dates,
    ...windows.map(({ from, until, share }) => ({ kind: 'brownout' as const, life, at: from, until, share })),
  ];
}

interface CalendarOptions {
  readonly name: string;
  readonly host: string;
  readonly now: EpochMs;
}

/** Octets of a line without its CRLF (RFC 5545 §3.1). */
const LONGEST_LINE = 75;

/** Every line ends with CRLF. Equal events give equal text for a whole day. */
export function renderCalendar(
  events: readonly LifecycleEvent[],
  { name, host, now }: CalendarOptions,
): string {
  const stamp = `${dayText(now)}T000000Z`;
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Sundial//Lifecycle//EN',
    'CALSCALE:GREGORIAN',
    `X-WR-CALNAME:${escapeText(name)}`,
    ...events.flatMap((event) => eventLines(event, host, stamp)),
    'END:VCALENDAR',
  ];
  return lines.map((line) => `${fold(line)}\r\n`).join('');
}

function eventLines(event: LifecycleEvent, host: string, stamp: string) {
  const { kind, life, at, until } = event;
  const { api, label, operation, schedule } = life;
  const { reason, successor, successorOperation, guide } = schedule;
  const next = [successor, successorOperation].filter((each) => each !== undefined).join(' ');
  const facts = [
    reason,
    next === '' ? undefined : `Successor: ${next}.`,
    guide === undefined ? undefined : `Guide: ${guide}`,
  ].filter((fact) => fact !== undefined);
  const ends = kind !== 'released';
  // A brownout is identified by its start. A date keeps its id if it is moved.
  const id = [api, label, operation, kind, until === undefined ? undefined : instantText(at)];
  const version = isUnversioned(schedule) ? api : `${api} ${label}`;
  const subject = `${version}${operation === undefined ? '' : ` ${operation}`}`;
  return [
    'BEGIN:VEVENT',
    `UID:${id
      .filter((part) => part !== undefined)
      .map(encodeURIComponent)
      .join('-')}@${host}`,
    `DTSTAMP:${stamp}`,
    ...timeLines(at, until),
    `SUMMARY:${escapeText(`${subject} ${summaryOf(event)}`)}`,
    ...(ends && facts.length > 0 ? [`DESCRIPTION:${escapeText(facts.join('\n'))}`] : []),
    ...(ends && guide !== undefined ? [`URL:${guide}`] : []),
    'TRANSP:TRANSPARENT',
    'END:VEVENT',
  ];
}

function summaryOf({ kind, life, share }: LifecycleEvent): string {
  if (kind === 'brownout' && share !== undefined)
    return `brownout for ${Math.round(share * 100)}% of the callers`;
  if (kind !== 'sunset') return kind;
  const { after } = life.schedule;
  return after.kind === 'gone' ? 'sunset: 410 Gone' : `sunset: redirected to ${after.to}`;
}

/** Midnight UTC becomes an all-day event, any other instant a timed one. */
function timeLines(from: EpochMs, until: EpochMs | undefined): readonly string[] {
  if (until !== undefined) return [`DTSTART:${instantText(from)}`, `DTEND:${instantText(until)}`];
  if (from % DAY_MS !== 0) return [`DTSTART:${instantText(from)}`];
  return [`DTSTART;VALUE=DATE:${dayText(from)}`];
}

function dayText(at: EpochMs): string {
  return dayOf(at).replaceAll('-', '');
}

/** RFC 5545 §3.3.5, form 2, in whole seconds. */
function instantText(at: EpochMs): string {
  const text = Temporal.Instant.fromEpochMilliseconds(at).toString({ smallestUnit: 'second' });
  return text.replace(/[-:]/g, '');
}

/** RFC 5545 §3.3.11. */
function escapeText(text: string): string {
  return text.replace(/[\\;,]/g, '\\$&').replace(/\r?\n/g, '\\n');
}

/** RFC 5545 §3.1. Never splits a character. */
function fold(line: string): string {
  let folded = '';
  let octets = 0;
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (octets + size > LONGEST_LINE) {
      folded += '\r\n ';
      octets = 1;
    }
    folded += character;
    octets += size;
  }
  return folded;
}
