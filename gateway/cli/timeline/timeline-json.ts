// The timeline as JSON: versions and operations with their announced dates, and dates announced later.
import { instantText } from '../../exchange/publish/lifecycle-entry.ts';
import type { ApiPlan, VersionRules } from '../../plan/plan.ts';
import type { EpochMs } from '../../policy/contract.ts';
import { announcementsToCome } from '../../policy/lifecycle/announcement-changes.ts';
import { knownAt } from '../../policy/lifecycle/announcements.ts';
import { isUnversioned, stageOfApi } from '../../policy/lifecycle/api-life.ts';
import { brownoutsToCome } from '../../policy/lifecycle/calendar.ts';
import type { Announcement } from '../../policy/lifecycle/milestones.ts';
import { phaseAt } from '../../policy/lifecycle/phases.ts';
import { noticeMonths } from './timeline-text.ts';

export function timelineJson(apis: readonly ApiPlan[], now: EpochMs): string {
  const document = { at: instantText(now), apis: apis.map((api) => apiEntry(api, now)) };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

function apiEntry({ name, versions }: ApiPlan, now: EpochMs) {
  const declared = [...versions.values()];
  const known = declared.map((version) => knownAt(version, now));
  return {
    api: name,
    stage: stageOfApi(known, now),
    versions: declared.map((version) => ({
      version: isUnversioned(version.schedule) ? undefined : version.label,
      ...lifeEntry(version, now),
      operations: undefinedIfEmpty(
        (version.operations?.list ?? []).map((each) => operationEntry(each, version, now)),
      ),
      not_announced: undefinedIfEmpty(announcementsToCome([version], now).map(announcementEntry)),
    })),
  };
}

/** Omits the brownouts that the version has as well. */
function operationEntry(declared: VersionRules, version: VersionRules, now: EpochMs) {
  const { brownouts, ...entry } = lifeEntry(declared, now);
  const isShared = knownAt(declared, now).brownouts === knownAt(version, now).brownouts;
  return {
    operation: declared.operation,
    ...entry,
    successor_operation: knownAt(declared, now).schedule.successorOperation,
    brownouts: isShared ? undefined : brownouts,
  };
}

function lifeEntry(declared: VersionRules, now: EpochMs) {
  const rules = knownAt(declared, now);
  const { schedule, freeze } = rules;
  const { released, announced, deprecated, sunset, retired, forgotten, extended = [], after } = schedule;
  return {
    stage: phaseAt(rules.phases, now).stage,
    released: instantText(released),
    announced: instantText(announced),
    deprecated: instantText(deprecated),
    sunset: instantText(sunset),
    retired: instantText(retired),
    forgotten: instantText(forgotten),
    freeze: instantText(freeze),
    notice_months: noticeMonths(schedule),
    extended: undefinedIfEmpty(
      extended.map((each) => ({ to: instantText(each.to), announced: instantText(each.announced) })),
    ),
    successor: schedule.successor,
    after: sunset === undefined ? undefined : after.kind === 'gone' ? 'gone' : { redirect: after.to },
    brownouts: undefinedIfEmpty(
      brownoutsToCome(rules, now).map(({ from, until, share }) => ({
        from: instantText(from),
        until: instantText(until),
        share,
      })),
    ),
  };
}

function announcementEntry(announcement: Announcement) {
  const { kind, at, life } = announcement;
  const dates =
    kind === 'deprecation'
      ? { deprecated: instantText(announcement.deprecated), sunset: instantText(announcement.sunset) }
      : kind === 'extension'
        ? { to: instantText(announcement.to) }
        : { from: instantText(announcement.from), until: instantText(announcement.until) };
  return { kind, operation: life.operation, announced: instantText(at), ...dates };
}

function undefinedIfEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}
