// The exceptions of a version, or of one of its operations, each with the life of it as that consumer sees it.
// Part of compiling one version.
import type { Exception } from '../../policy/lifecycle/exceptions.ts';
import type { Phase, Schedule } from '../../policy/lifecycle/schedule.ts';
import type { VersionFile } from '../grammar/policy-grammar.ts';

/**
 * With leave from the sunset the consumer's own last day stands in its headers. `mayOutlast`: whether anybody may have it.
 * An operation that ends by a date of its own ends for everybody, since the leave was given for the version; and where
 * there is no upstream, there is nothing to let anybody pass to.
 */
export function compileExceptions(
  exceptions: VersionFile['exceptions'],
  schedule: Schedule,
  phasesOf: (schedule: Schedule) => readonly Phase[],
  mayOutlast: boolean,
): readonly Exception[] {
  return (exceptions ?? []).map(({ consumer, until, from, why, by }) => {
    const outlasts = mayOutlast && from.includes('sunset');
    return {
      consumer,
      until,
      from: outlasts ? from : from.filter((each) => each !== 'sunset'),
      why,
      by,
      phases: phasesOf(outlasts ? { ...schedule, sunset: until, retired: undefined } : schedule),
    };
  });
}
