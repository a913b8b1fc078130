// Writes the title and the text of a milestone for mails, feeds and pages.
import { dateInWords } from '../notation.ts';
import { isUnversioned } from './api-life.ts';
import type { Life } from './calendar.ts';
import type { Announcement, Milestone } from './milestones.ts';

/** Example: `orders v1 ends on 2027-04-15, not on 2027-01-15`. */
export function milestoneTitle(milestone: Milestone): string {
  const name = nameOf(milestone.life);
  switch (milestone.kind) {
    case 'released':
      return `${name} is released`;
    case 'deprecation':
      return `${name} is deprecated from ${dateInWords(milestone.deprecated)}`;
    case 'brownouts':
      return `${name} will refuse requests for short times from ${dateInWords(milestone.from)}`;
    case 'extension': {
      const instead = milestone.from === undefined ? '' : `, not on ${dateInWords(milestone.from)}`;
      return `${name} ends on ${dateInWords(milestone.to)}${instead}`;
    }
    case 'approaching':
      return `${name} ends on ${dateInWords(milestone.sunset)}`;
    case 'sunset':
      return `${name} has ended`;
    case 'retired':
      return `${name} is retired`;
    default:
      return milestone satisfies never;
  }
}

/** Example: `extension to 2027-04-15 (announced 2026-10-10)`. */
export function announcementInWords(announcement: Announcement): string {
  const announced = `(announced ${dateInWords(announcement.at)})`;
  switch (announcement.kind) {
    case 'deprecation': {
      const { deprecated, sunset } = announcement;
      const end = sunset === undefined ? '' : `, sunset ${dateInWords(sunset)}`;
      return `deprecation from ${dateInWords(deprecated)}${end} ${announced}`;
    }
    case 'extension':
      return `extension to ${dateInWords(announcement.to)} ${announced}`;
    case 'brownouts':
      return `brownouts from ${dateInWords(announcement.from)} ${announced}`;
    default:
      return announcement satisfies never;
  }
}

export function milestoneText(milestone: Milestone): readonly string[] {
  const { schedule } = milestone.life;
  switch (milestone.kind) {
    case 'released':
      return [];
    case 'deprecation': {
      const end = milestone.sunset === undefined ? [] : [`It ends on ${dateInWords(milestone.sunset)}.`];
      return [...end, ...reasonOf(milestone.life), ...adviceOf(milestone.life)];
    }
    case 'brownouts': {
      const { count, until } = milestone;
      const often = count === 1 ? 'Once' : `${count} times`;
      return [
        `${often}, the last until ${Temporal.Instant.fromEpochMilliseconds(until)}.`,
        ...adviceOf(milestone.life),
      ];
    }
    case 'extension':
      return adviceOf(milestone.life);
    case 'approaching':
      return [...reasonOf(milestone.life), ...adviceOf(milestone.life)];
    case 'sunset': {
      const { after } = schedule;
      const answer = after.kind === 'gone' ? 'answered 410 Gone' : `redirected to ${after.to}`;
      return [`Requests are ${answer}.`, ...adviceOf(milestone.life)];
    }
    case 'retired':
      return ['Exceptions from its end are over.', ...adviceOf(milestone.life)];
    default:
      return milestone satisfies never;
  }
}

/** `orders v1 GET /search`. The name alone for an API without versions. */
export function nameOf({ api, label, operation, schedule }: Life): string {
  const version = isUnversioned(schedule) ? api : `${api} ${label}`;
  return operation === undefined ? version : `${version} ${operation}`;
}

function reasonOf({ schedule: { reason } }: Life): readonly string[] {
  return reason === undefined ? [] : [`Why: ${reason}.`];
}

function adviceOf({ schedule }: Life): readonly string[] {
  const { successor, successorOperation, alternate, guide } = schedule;
  const next = [successor, successorOperation].filter((each) => each !== undefined).join(' ');
  return [
    ...(next === '' ? [] : [`Move to ${next}.`]),
    ...(successor !== undefined || alternate === undefined ? [] : [`What may serve instead: ${alternate}`]),
    ...(guide === undefined ? [] : [`Migration guide: ${guide}`]),
  ];
}
