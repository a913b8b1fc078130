// The dates of a version in a policy file that are announced at an instant.
import type { EpochMs } from '../../policy/contract.ts';
import { announcementOf } from '../../policy/lifecycle/known.ts';
import type { VersionParts } from '../../sections/policy-file.ts';

/** Without dates and extensions that are announced later. */
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
