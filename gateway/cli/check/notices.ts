// Notices of `check` that depend on the day: exceptions that end soon, and dates that are not announced yet.
import type { LoadedPlan } from '../../plan/load.ts';
import type { PolicySource } from '../../plan/load-documents.ts';
import type { Problem } from '../../plan/problems.ts';
import type { Path } from '../../plan/read/document.ts';
import { versionsOf } from '../../plan/versions.ts';
import { DAY_MS, type EpochMs } from '../../policy/contract.ts';
import { announcementsToCome } from '../../policy/lifecycle/announcement-changes.ts';
import { endsSoon, exceptionInWords } from '../../policy/lifecycle/exceptions.ts';
import { announcementInWords, nameOf } from '../../policy/lifecycle/milestone-words.ts';
import type { Announcement } from '../../policy/lifecycle/milestones.ts';
import { counted } from '../../policy/notation.ts';
import { UNVERSIONED } from '../../policy/versioning/resolution.ts';
import { effectiveSunset } from '../../sections/schedule/redirects.ts';
import { versionPath } from '../../sections/view.ts';

/** Does not change the exit code. */
export interface CheckNotice extends Pick<Problem, 'file' | 'line' | 'column' | 'rule' | 'message'> {
  readonly api: string;
  readonly version: string;
}

export function endingExceptions(sources: readonly PolicySource[], now: EpochMs): readonly CheckNotice[] {
  return sources.flatMap(({ file, document }) =>
    [...versionsOf(file)].flatMap(([label, version]) => {
      const { exceptions = [], retired = effectiveSunset(version) } = version;
      if (retired !== undefined && retired <= now) return [];
      return exceptions.flatMap((exception, index) => {
        if (!endsSoon(exception, now)) return [];
        const name = label === UNVERSIONED ? file.api : `${file.api} ${label}`;
        const left = counted(Math.floor((exception.until - now) / DAY_MS), 'day');
        const at = [...versionPath(label), 'exceptions', index];
        const consumer = document.show([...at, 'consumer'], exception.consumer);
        const message = `${name}: ${consumer} has ${exceptionInWords(exception)}: it ends in ${left}`;
        const problem = document.problem([...at, 'until'], { rule: 'exception-ends', message });
        return [noticeOf(problem, file.api, label)];
      });
    }),
  );
}

/** Dates that callers do not know yet. Such dates are valid, so this is not a warning. */
export function unannounced(
  { plan, sources }: Pick<LoadedPlan, 'plan' | 'sources'>,
  now: EpochMs,
): readonly CheckNotice[] {
  return sources.policies.flatMap(({ file, document }) =>
    announcementsToCome(plan.apiNamed(file.api)?.versions.values() ?? [], now).map((announcement) => {
      const { label } = announcement.life;
      const message = `${nameOf(announcement.life)}, not announced yet: ${announcementInWords(announcement)}`;
      const problem = document.problem(placeOf(announcement), { rule: 'not-announced', message });
      return noticeOf(problem, file.api, label);
    }),
  );
}

function noticeOf(problem: Problem, api: string, version: string): CheckNotice {
  const { source: _source, severity: _severity, ...place } = problem;
  return { ...place, api, version };
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
