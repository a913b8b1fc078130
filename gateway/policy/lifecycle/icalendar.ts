// Lifecycle events as an iCalendar object (RFC 5545), for the calendars of the people who call an API.
// Behind /.well-known/lifecycle/<api>.ics and `timeline --format ics`.
import type { EpochMs } from '../contract.ts';
import { dayOf } from '../notation.ts';
import { isOfWholeApi } from './api-life.ts';
import type { LifecycleEvent } from './calendar.ts';

export interface CalendarOptions {
  readonly name: string;
  /** Makes the ids unique in the world. */
  readonly host: string;
  readonly now: EpochMs;
}

const DAY_MS = 86_400_000;
/** Octets of a line without its CRLF (RFC 5545 §3.1). */
const LONGEST_LINE = 75;

/** The whole object, every line ended by CRLF; the same events give the same text for a whole day. */
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
  // A brownout has no identity but its beginning; a date keeps its own when it is moved.
  const id = [api, label, operation, kind, until === undefined ? undefined : instantText(at)];
  const version = isOfWholeApi(schedule) ? api : `${api} ${label}`;
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

/** A date of the policy file is a day; an instant with a time of its own is shown as one. */
function timeLines(from: EpochMs, until: EpochMs | undefined): readonly string[] {
  if (until !== undefined) return [`DTSTART:${instantText(from)}`, `DTEND:${instantText(until)}`];
  if (from % DAY_MS !== 0) return [`DTSTART:${instantText(from)}`];
  return [`DTSTART;VALUE=DATE:${dayText(from)}`];
}

function dayText(at: EpochMs): string {
  return dayOf(at).replaceAll('-', '');
}

/** RFC 5545 §3.3.5, form 2; whole seconds. */
function instantText(at: EpochMs): string {
  const text = Temporal.Instant.fromEpochMilliseconds(at).toString({ smallestUnit: 'second' });
  return text.replace(/[-:]/g, '');
}

/** RFC 5545 §3.3.11. */
function escapeText(text: string): string {
  return text.replace(/[\\;,]/g, '\\$&').replace(/\r?\n/g, '\\n');
}

/** RFC 5545 §3.1: no character is cut in two. */
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
