// What the policy files have and callers are not told yet: what `check` says of the day it is asked on.
// Notices and no findings: a date is right to stand in its file before it is announced.
import type { Whole } from '../plan/load.ts';
import type { Path } from '../plan/read/document.ts';
import { versionPath } from '../plan/versions.ts';
import type { EpochMs } from '../policy/contract.ts';
import { announcementInWords, nameOf } from '../policy/lifecycle/milestone-words.ts';
import type { Announcement } from '../policy/lifecycle/milestones.ts';
import { announcementsToCome } from '../policy/lifecycle/retold.ts';
import type { Notice } from './ending-exceptions.ts';

export function unannounced(
  { plan, sources }: Pick<Whole, 'plan' | 'sources'>,
  now: EpochMs,
): readonly Notice[] {
  return sources.policies.flatMap(({ file, document }) =>
    announcementsToCome(plan.apiNamed(file.api)?.versions.values() ?? [], now).map((announcement) => {
      const { label } = announcement.life;
      const message = `${nameOf(announcement.life)}, not announced yet: ${announcementInWords(announcement)}`;
      const {
        source: _source,
        severity: _severity,
        ...place
      } = document.problem(placeOf(announcement), {
        rule: 'not-announced',
        message,
      });
      return { ...place, api: file.api, version: label };
    }),
  );
}

function placeOf(announcement: Announcement): Path {
  const { label, operation } = announcement.life;
  const version = versionPath(label);
  const owner = operation === undefined ? version : [...version, 'operations', operation];
  switch (announcement.kind) {
    case 'deprecation':
      return [...version, 'announced'];
    case 'extension':
      return [...version, 'extended', announcement.place, 'announced'];
    case 'brownouts':
      return [...owner, 'brownouts', announcement.place, 'announced'];
    default:
      return announcement satisfies never;
  }
}
