// Exceptions that are about to end, by the policy files alone: what `check` says of the day it is asked on.
// Notices and no findings: a file that was in order stays so while its dates pass.
import type { PolicySource } from '../plan/load-documents.ts';
import type { Problem } from '../plan/problems.ts';
import { effectiveSunset } from '../plan/redirects.ts';
import { versionPath, versionsOf } from '../plan/versions.ts';
import type { EpochMs } from '../policy/contract.ts';
import { endsSoon, leaveInWords } from '../policy/lifecycle/exceptions.ts';
import { counted } from '../policy/notation.ts';
import { UNVERSIONED } from '../policy/versioning/resolution.ts';

/** It makes no command end otherwise. */
export interface Notice extends Pick<Problem, 'file' | 'line' | 'column' | 'rule' | 'message'> {
  readonly api: string;
  readonly version: string;
}

const DAY_MS = 86_400_000;

/** Of versions that have not ended at `now`. */
export function endingExceptions(sources: readonly PolicySource[], now: EpochMs): readonly Notice[] {
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
        const message = `${name}: ${consumer} has ${leaveInWords(exception)}: it ends in ${left}`;
        const {
          source: _source,
          severity: _severity,
          ...place
        } = document.problem([...at, 'until'], {
          rule: 'exception-ends',
          message,
        });
        return [{ ...place, api: file.api, version: label }];
      });
    }),
  );
}
