// Compiles the operations of a version. Each gets complete rules, inherited from the version where it has none.
import type { EpochMs } from '../../policy/contract.ts';
import { knownAt, sortedOnce } from '../../policy/lifecycle/announcements.ts';
import {
  formatOperation,
  type OperationTemplate,
  parseOperation,
  tailParts,
} from '../../policy/lifecycle/operation-template.ts';
import { createPhases, type PhaseOptions, phasesWith } from '../../policy/lifecycle/phases.ts';
import type { Schedule } from '../../policy/lifecycle/schedule.ts';
import type { Label } from '../../policy/versioning/resolution.ts';
import { compiledBy } from '../../sections/list.ts';
import type { OperationFile, PolicyFile, VersionFile } from '../../sections/policy-file.ts';
import {
  compileBrownouts,
  compileExceptions,
  scheduleOfOperation,
  withAnnouncements,
} from '../../sections/schedule/compile.ts';
import type { RedirectTarget, VersionRules } from '../plan.ts';
import { createOperationTable } from '../routes/operation-table.ts';

export interface OperationsInput {
  readonly file: PolicyFile;
  readonly version: VersionFile;
  readonly rules: VersionRules;
  readonly options: PhaseOptions;
  /** Path of a version up to the tail. */
  readonly pathOf: (label: Label) => string;
  readonly urlOf: (guide: string) => string;
}

export function compileOperations(input: OperationsInput): VersionRules['operations'] {
  const written = Object.entries(input.version.operations ?? {});
  if (written.length === 0) return undefined;
  return createOperationTable(
    written.map(([text, operation]) => {
      const parsed = parseOperation(text);
      if (parsed.kind === 'malformed') throw new RangeError(`unchecked operation ${text}: ${parsed.why}`);
      return { template: parsed.template, rules: compileOperation(parsed.template, operation, input) };
    }),
  );
}

function compileOperation(
  template: OperationTemplate,
  operation: OperationFile,
  input: OperationsInput,
): VersionRules {
  const { file, version, rules } = input;
  const name = formatOperation(template);
  const options: PhaseOptions = { ...input.options, operation: name };
  const phasesOf = (dates: Schedule) => createPhases(dates, options);
  const mayOutlast = operation.sunset === undefined && rules.upstream !== undefined;
  const brownouts = compileBrownouts(operation.brownouts);
  const own = { name, written: operation };
  const datedAt = (known: EpochMs) => {
    const within = knownAt(rules, known);
    const schedule = scheduleOfOperation(isKnown(operation, within) ? operation : {}, within, input.urlOf);
    return {
      schedule,
      phases: phasesWith(rules.upstream, phasesOf(schedule)),
      exceptions: compileExceptions(version.exceptions, schedule, phasesOf, mayOutlast),
      // The same object as the version's: it is published and paused once for both.
      brownouts: operation.brownouts === undefined ? within.brownouts : brownouts(schedule, known),
      ...compiledBy('compileDated', { file, label: rules.label, version, schedule, operation: own }),
    };
  };
  // Without dates of its own, an operation is announced when the deprecation of its version is.
  const isKnown = ({ deprecated, sunset }: OperationFile, within: VersionRules): boolean =>
    deprecated !== undefined ||
    sunset !== undefined ||
    within.schedule.deprecated === rules.schedule.deprecated;
  const announcements = sortedOnce([
    ...(rules.earlier ?? []).flatMap(({ knownUntil }) => knownUntil ?? []),
    ...(operation.brownouts ?? []).map(({ announced }) => announced),
  ]);
  const compiled: VersionRules = {
    ...rules,
    earlier: undefined,
    operation: name,
    operations: undefined,
    ...datedAt(Number.POSITIVE_INFINITY),
    phasesOf,
    ...compiledBy('compileOperation', { file, version, operation, rules }),
    ...successorOf(template, operation, input),
  };
  return withAnnouncements(compiled, announcements, datedAt);
}

type Successor = Pick<VersionRules, 'successorPath' | 'successorTail' | 'redirects'>;

/** LNK-2: the path of the named template with the captured segments; without a template, the same tail. */
function successorOf(
  template: OperationTemplate,
  { successor, after }: OperationFile,
  { rules, pathOf }: OperationsInput,
): Successor {
  const { successorPath, successorTail, redirects } = rules;
  if (successor === undefined) return { successorPath, successorTail, redirects };
  const label = successor.label ?? rules.label;
  const path = pathOf(label);
  const tail = successor.template && tailParts(template, successor.template);
  const own: RedirectTarget = { label, path, tail };
  return {
    successorPath: path,
    successorTail: tail,
    // A redirect of the version to the same successor leads to the same resource.
    redirects:
      after === 'redirect' ? [own] : redirects.map((hop) => (hop.label === label ? { ...hop, tail } : hop)),
  };
}
