// The exceptions of a version, or of one of its operations, each with the life of it as that consumer sees it.
// Part of compiling one version.
import type { Exception } from '../../policy/lifecycle/exceptions.ts';
import type { Phase, Schedule } from '../../policy/lifecycle/schedule.ts';
import type { VersionFile } from '../grammar/policy-grammar.ts';

/**
 * With leave from the sunset the consumer's own last day stands in its headers. An operation that ends by a date of its
 * own (`sunsetOf` is then `operation`) ends for everybody: the leave was given for the version.
 */
export function compileExceptions(
  exceptions: VersionFile['exceptions'],
  schedule: Schedule,
  phasesOf: (schedule: Schedule) => readonly Phase[],
  sunsetOf: 'version' | 'operation' = 'version',
): readonly Exception[] {
  return (exceptions ?? []).map(({ consumer, until, from, why, by }) => {
    const mayOutlast = from.includes('sunset') && sunsetOf === 'version';
    return {
      consumer,
      until,
      from: mayOutlast ? from : from.filter((each) => each !== 'sunset'),
      why,
      by,
      phases: phasesOf(mayOutlast ? { ...schedule, sunset: until, retired: undefined } : schedule),
    };
  });
}
