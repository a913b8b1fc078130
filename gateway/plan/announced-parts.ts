// The dates of a version as callers know them at an instant: what is announced later is not published yet.
// Asked where a version is compared with what was published of it.
import type { EpochMs } from '../policy/contract.ts';
import { announcementOf } from '../policy/lifecycle/known.ts';
import type { VersionParts } from './grammar/policy-grammar.ts';

/** Without the dates of a deprecation that is announced later, and without such extensions. */
export function announcedParts(version: VersionParts, now: EpochMs): VersionParts {
  const { announced, deprecated, sunset, extended, retired, forgotten, ...rest } = version;
  const isAnnounced = now >= (announcementOf({ announced, deprecated }) ?? now);
  return isAnnounced ? withAnnouncedExtensions(version, now) : rest;
}

export function withAnnouncedExtensions(version: VersionParts, now: EpochMs): VersionParts {
  const { extended } = version;
  return extended === undefined
    ? version
    : { ...version, extended: extended.filter(({ announced }) => announced <= now) };
}
